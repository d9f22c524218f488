/** What Bun does with requests, by Bun alone. When this fails, Bun has changed: see docs/decisions/runtime.md. */
import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { randomBytes } from '../../support/clients/public.ts'

const MIB = 1024 * 1024

/** Reads `length` bytes in all, not before a moment has passed after each piece, and answers. */
async function haltingServer(length: number) {
  const pieces: Buffer[] = []
  const server = createServer((socket) => {
    let missing = length
    socket.on('error', () => {})
    socket.on('data', (piece: Buffer) => {
      const head = pieces.length === 0 ? piece.indexOf('\r\n\r\n') + 4 : 0
      pieces.push(piece.subarray(head))
      missing -= piece.length - head
      if (missing === 0) {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
        return
      }
      socket.pause()
      setTimeout(() => socket.resume(), 1)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    received: () => Buffer.concat(pieces),
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test.each([1, 2, 100, 16_385])(
  'fetch sends pieces in their order and has copied each before it asks for the next, with %p bytes at the end',
  async (rest) => {
    const content = Buffer.from(randomBytes(8 * MIB + rest))
    await using server = await haltingServer(content.length)
    const memory = new Uint8Array(MIB)
    let at = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const piece = content.subarray(at, at + MIB)
          // All pieces share their memory, so that one that is sent late is sent wrong.
          memory.fill(0)
          memory.set(piece)
          at += piece.length
          controller.enqueue(memory.subarray(0, piece.length))
          if (at === content.length) controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { 'Content-Length': String(content.length) }
    await fetch(server.url, { method: 'PATCH', headers, body })
    const changed = 'changed: OpenFile.stream in src/client/local-file.ts must not read into memory again'
    expect(server.received().equals(content), changed).toBe(true)
  },
)
