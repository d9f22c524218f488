/**
 * A minimal Bun server for comparison: two routes without keys, database or log; each serializes the JSON
 * from standard input again for every request.
 */
const given: { detail: unknown; listing: unknown } = await Bun.stdin.json()

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/api/v1/file/:id': () => Response.json(given.detail),
    '/api/v1/files': () => Response.json(given.listing),
  },
})
process.stdout.write(`${server.url.origin}\n`)
