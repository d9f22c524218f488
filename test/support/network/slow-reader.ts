/** A client that reads a response as slowly as a test wants, over a socket. */
import { connect } from 'node:net'

export interface SlowReader {
  /** Bytes received so far, including headers. */
  received(): number
  /** Reads until at least so many bytes have arrived. */
  readUpTo(bytes: number): Promise<void>
  /** Reads to the end of the connection; returns whether the response was complete. */
  readOn(): Promise<{ readonly body: Buffer; readonly isWhole: boolean }>
  leave(): void
}

/** Sends a GET with `Connection: close`. Reads nothing yet. */
export async function slowReader(address: string, headers: Record<string, string> = {}): Promise<SlowReader> {
  const url = new URL(address)
  const socket = connect({ port: Number(url.port), host: url.hostname })
  const chunks: Buffer[] = []
  let length = 0
  let wanted = 0
  let changed = Promise.withResolvers<void>()
  let isClosed = false
  socket.on('data', (bytes) => {
    chunks.push(Buffer.from(bytes))
    length += bytes.length
    if (length >= wanted) socket.pause()
    changed.resolve()
    changed = Promise.withResolvers()
  })
  // The received bytes show how the connection ended.
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    changed.resolve()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('close', () => reject(new Error('no connection')))
  })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n${lines.join('')}\r\n`,
  )
  socket.pause()

  async function readUpTo(bytes: number): Promise<void> {
    wanted = bytes
    socket.resume()
    while (length < bytes && !isClosed) await changed.promise
  }

  return {
    received: () => length,
    readUpTo,
    async readOn() {
      await readUpTo(Number.POSITIVE_INFINITY)
      return bodyOf(Buffer.concat(chunks))
    },
    leave: () => socket.destroy(),
  }
}

function bodyOf(answer: Buffer): { body: Buffer; isWhole: boolean } {
  const end = answer.indexOf('\r\n\r\n')
  const head = answer.subarray(0, end).toString('latin1')
  const rest = answer.subarray(end + 4)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length !== undefined) return { body: rest, isWhole: rest.length === Number(length) }
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return { body: Buffer.concat(pieces), isWhole: false }
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString('latin1'), 16)
    if (size === 0) return { body: Buffer.concat(pieces), isWhole: true }
    pieces.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
    if (at > rest.length) return { body: Buffer.concat(pieces), isWhole: false }
  }
}
