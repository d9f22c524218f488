/** Hand-written HTTP over a socket, byte by byte, as no well-behaved client would send it. */
import { connect } from 'node:net'

export interface RawReply {
  readonly status: number
  readonly body: unknown
}

export interface RawConnection {
  /** Resolves when the system has accepted the bytes, or when the connection is closed. */
  send(bytes: string | Uint8Array): Promise<void>
  /** The next response, including 100 Continue. Rejects when the connection ends before it. */
  answer(): Promise<RawReply>
  isClosed(): boolean
  /** Error that broke the connection, if any. */
  failure(): Error | null
  destroy(): void
}

/**
 * Connects. A late reader reads nothing before it asks for the response, like simple clients that first send
 * everything: a connection that was reset meanwhile has no response for them.
 */
export async function openRaw(url: string, { readsLate = false } = {}): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: readsLate })
  let received = Buffer.alloc(0)
  let closed = false
  let failure: Error | null = null
  let changed = Promise.withResolvers<void>()
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, Buffer.from(bytes)])
    change()
  })
  socket.on('error', (error) => {
    failure = error
  })
  socket.on('close', () => {
    closed = true
    change()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('close', () => reject(failure))
  })
  if (readsLate) socket.pause()
  return {
    send: (bytes) =>
      new Promise((resolve) => {
        if (closed) return resolve()
        socket.once('close', resolve)
        socket.write(Buffer.from(bytes), () => {
          socket.off('close', resolve)
          resolve()
        })
      }),
    async answer() {
      socket.resume()
      for (;;) {
        const read = readAnswer(received)
        if (read !== null) {
          received = received.subarray(read.length)
          return read.answer
        }
        if (closed) throw failure ?? new Error('the connection ended without an answer')
        await changed.promise
      }
    },
    isClosed: () => closed,
    failure: () => failure,
    destroy: () => socket.destroy(),
  }
}

function readAnswer(received: Buffer): { answer: RawReply; length: number } | null {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = received.subarray(0, end).toString('latin1')
  const bodyStart = end + 4
  const bodyEnd = bodyStart + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  if (received.length < bodyEnd) return null
  const text = received.subarray(bodyStart, bodyEnd).toString()
  const isJson = /^content-type: *application\/json/im.test(head)
  return {
    answer: { status: Number(head.split(' ')[1]), body: isJson ? JSON.parse(text) : text },
    length: bodyEnd,
  }
}
