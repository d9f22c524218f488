/**
 * A keep-alive HTTP/1.1 connection over a raw socket: one request at a time and with minimal overhead,
 * because client and server share the cores.
 */
export interface HttpConnection {
  /** Sends the parts, head and body, unchanged; resolves with the complete response. */
  request(parts: Iterable<Uint8Array>): Promise<RawHttpAnswer>
  close(): void
}

export interface RawHttpAnswer {
  readonly status: number
  /** Received bytes of the body. */
  readonly length: number
  /** Body as text, up to 64 KiB; longer bodies are counted and discarded. */
  readonly text: string
}

const KEPT = 64 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')

interface Pending {
  readonly parts: Iterator<Uint8Array>
  chunk: Uint8Array | null
  head: Buffer
  status: number
  /** Remaining bytes of the body; null until the head is read. */
  left: number | null
  length: number
  kept: Buffer[]
  readonly resolve: (answer: RawHttpAnswer) => void
  readonly reject: (error: Error) => void
}

/** Connects to the host and port of the address. `onBody` receives every piece of every response's body. */
export async function openHttpConnection(
  url: URL,
  onBody?: (piece: Uint8Array) => void,
): Promise<HttpConnection> {
  let pending: Pending | null = null

  const fail = (error: Error) => {
    const failed = pending
    pending = null
    failed?.reject(error)
  }

  const pump = (target: Bun.Socket) => {
    while (pending !== null) {
      if (pending.chunk === null) {
        const next = pending.parts.next()
        if (next.done) return
        pending.chunk = next.value
      }
      const written = target.write(pending.chunk)
      if (written < 0) return fail(new Error('the server closed the connection while it was sent a request'))
      if (written < pending.chunk.length) {
        pending.chunk = pending.chunk.subarray(written)
        return
      }
      pending.chunk = null
    }
  }

  const takeBody = (current: Pending, piece: Buffer) => {
    if (current.length < KEPT) current.kept.push(Buffer.from(piece))
    current.length += piece.length
    onBody?.(piece)
    if (current.left === null) return
    current.left -= piece.length
    if (current.left > 0) return
    pending = null
    const text = current.length < KEPT ? Buffer.concat(current.kept).toString('utf8') : ''
    current.resolve({ status: current.status, length: current.length, text })
  }

  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      drain: pump,
      data(_, piece) {
        if (pending === null) return
        if (pending.left !== null) return takeBody(pending, piece)
        pending.head = Buffer.concat([pending.head, piece])
        const end = pending.head.indexOf(HEAD_END)
        if (end === -1) return
        const head = pending.head.subarray(0, end).toString('latin1')
        const length = /^content-length: *(\d+)/im.exec(head)?.[1]
        pending.status = Number(head.slice(9, 12))
        if (length === undefined && pending.status !== 204) {
          return fail(new Error(`an answer without Content-Length: ${head}`))
        }
        pending.left = Number(length ?? 0)
        takeBody(pending, pending.head.subarray(end + HEAD_END.length))
      },
      close: () => fail(new Error('the server closed the connection before its answer was whole')),
      error: (_, error) => fail(error),
    },
  })

  return {
    request(parts) {
      return new Promise((resolve, reject) => {
        pending = {
          parts: parts[Symbol.iterator](),
          chunk: null,
          head: Buffer.alloc(0),
          status: 0,
          left: null,
          length: 0,
          kept: [],
          resolve,
          reject,
        }
        pump(socket)
      })
    },
    close: () => socket.end(),
  }
}
