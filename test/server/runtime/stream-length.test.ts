/** A fault of Bun, by Bun alone. When this fails, Bun has mended it: see docs/decisions/runtime.md. */
import { expect, test } from 'bun:test'

function pieces(): ReadableStream<Uint8Array> {
  let left = 3
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(1)
      if (left-- > 0) controller.enqueue(new Uint8Array(10))
      else controller.close()
    },
  })
}

test('Bun.serve drops the Content-Length of a stream', async () => {
  await using server = Bun.serve({
    port: 0,
    fetch: () => new Response(pieces(), { headers: { 'Content-Length': '30' } }),
  })
  const response = await fetch(server.url)
  expect((await response.bytes()).length).toBe(30)
  const mended = 'mended: with pipelining.test.ts, src/server can be answered by Bun.serve again'
  expect(response.headers.get('content-length'), mended).toBeNull()
  expect(response.headers.get('transfer-encoding')).toBe('chunked')
})
