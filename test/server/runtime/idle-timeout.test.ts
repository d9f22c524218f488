/** A limit of Bun, by Bun alone. When this fails, Bun has lifted it: see docs/decisions/runtime.md. */
import { expect, test } from 'bun:test'

test('Bun.serve keeps a connection on which nothing moves for 255 seconds at most', async () => {
  const serve = (idleTimeout: number) => Bun.serve({ port: 0, idleTimeout, fetch: () => new Response() })
  await serve(255).stop(true)
  let longer: string
  try {
    await serve(256).stop(true)
    longer = 'lifted: QUIET of src/server/server.ts can be longer'
  } catch (error) {
    longer = String(error)
  }
  expect(longer).toContain('255 or less')
})
