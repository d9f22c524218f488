/** What Bun does with requests, by Bun alone. When this fails, Bun has changed: see docs/decisions/runtime.md. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'

let server: Server
let url = ''
let received = 0
/** Answers the first request of each connection, and breaks the connection off at the second. */
beforeAll(async () => {
  server = createServer((socket) => {
    let requests = 0
    socket.on('error', () => {})
    socket.on('data', () => {
      received++
      if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      else socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on no port')
  url = `http://127.0.0.1:${address.port}`
})
afterAll(() => server.close())

async function receivedOf(method: string, more: BunFetchRequestInit): Promise<number> {
  await (await fetch(url)).bytes()
  received = 0
  await fetch(url, { method, ...more })
    .then((response) => response.bytes())
    .catch(() => {})
  return received
}

test('fetch sends a PUT again when a kept connection breaks after it', async () => {
  const mended = 'mended: keepalive in src/blobs and isAlone in src/client/http.ts can go'
  expect(await receivedOf('PUT', { body: 'x' }), mended).toBe(2)
})

test('fetch sends a POST once, and anything without a kept connection', async () => {
  expect(await receivedOf('POST', { body: 'x' })).toBe(1)
  expect(await receivedOf('PUT', { body: 'x', keepalive: false })).toBe(1)
})
