/** A fault of Bun, by Bun alone. When this fails, Bun has mended it: see docs/decisions/runtime.md. */
import { expect, test } from 'bun:test'
import { connect } from 'node:net'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

test('Bun.serve closes a connection on which a request comes before an answer, and loses that answer', async () => {
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.url.endsWith('/slow')) await Bun.sleep(50)
      return new Response('answered')
    },
  })
  const socket = connect(server.port ?? 0, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', resolve))
  socket.write(get('/slow') + get('/next'))
  await Promise.race([closed, Bun.sleep(2000)])
  socket.destroy()
  const mended = 'mended: with stream-length.test.ts, src/server can be answered by Bun.serve again'
  expect(text.match(/answered/g)?.length ?? 0, mended).toBeLessThan(2)
})
