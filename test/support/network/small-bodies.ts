/**
 * A proxy that refuses large bodies: with a page of its own, as nginx and others do, or by closing the
 * connection.
 */
import { createServer, type IncomingMessage } from 'node:http'

export interface SmallBodies {
  readonly url: string
  /** Number of refused requests. */
  refused(): number
  stop(): Promise<void>
}

/** `most`: maximum bytes of a body. */
export async function startSmallBodies(
  target: string,
  most: number,
  refusal: 'answers 413' | 'closes',
): Promise<SmallBodies> {
  let refused = 0
  const server = createServer(async (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) > most) {
      refused += 1
      if (refusal === 'closes') request.socket.destroy()
      else
        response.writeHead(413, { 'content-type': 'text/html' }).end('<h1>413 Request Entity Too Large</h1>')
      return
    }
    const { method = '', url = '' } = request
    const answer = await fetch(target + url, {
      method,
      headers: headersOf(request),
      body: ['GET', 'HEAD'].includes(method) ? null : await bodyOf(request),
      redirect: 'manual',
      keepalive: false,
      // Forwarded without decompression.
      decompress: false,
    })
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'connection'))
    response.writeHead(answer.status, headers).end(await answer.bytes())
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy listens nowhere')
  return {
    url: `http://localhost:${address.port}`,
    refused: () => refused,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function headersOf({ headers }: IncomingMessage): Headers {
  const passed = Object.entries(headers).filter(([name]) => !['connection', 'content-length'].includes(name))
  return new Headers(passed.map(([name, value]) => [name, String(value)]))
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(Buffer.concat(await Array.fromAsync<Uint8Array>(request)))
}
