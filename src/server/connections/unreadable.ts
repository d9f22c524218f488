import { type createServer, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import { namedHeaders } from './header-names.ts'

/** Why input is refused before it becomes a request. */
export type Unreadable = 'malformed' | 'large head' | 'unknown expectation'

/** Response to such input. */
export type Refuse = (why: Unreadable) => Response

const parserError = z.object({ code: z.string() })

/**
 * Answers input that Bun's parser rejects with `refuse`. `turn` runs the work when the connection's earlier
 * responses are sent.
 */
export function answerUnreadable(
  node: ReturnType<typeof createServer>,
  refuse: Refuse,
  turn: (socket: Duplex, work: () => void) => void,
): void {
  node.on('clientError', (error, socket) => {
    const { data } = parserError.safeParse(error)
    // A client that was too slow, or that has only connected, expects no response.
    if (data?.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      socket.destroy()
      return
    }
    const why = data?.code === 'HPE_HEADER_OVERFLOW' ? 'large head' : 'malformed'
    turn(socket, () => {
      written(refuse(why)).then(
        (bytes) => (socket.writable ? socket.end(bytes) : socket.destroy()),
        () => socket.destroy(),
      )
    })
  })
}

/** Serialized response, which closes the connection. */
async function written(response: Response): Promise<Buffer> {
  const body = await response.bytes()
  const head = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`, 'Connection: close']
  const named = namedHeaders(response.headers)
  for (let at = 0; at + 1 < named.length; at += 2) head.push(`${named[at]}: ${named[at + 1]}`)
  if (!response.headers.has('content-length')) head.push(`Content-Length: ${body.byteLength}`)
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}
