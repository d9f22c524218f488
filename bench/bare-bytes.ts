/**
 * A minimal Bun server for comparison, without keys, database, limits or log: `<folder>`. It receives, hashes, writes and
 * syncs a PUT to `/put/<name>`, and `Bun.serve` itself sends a file or a range of it from `/files/<name>`. Prints its
 * address when it listens.
 */
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const [folder = ''] = process.argv.slice(2)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  routes: {
    '/put/:name': {
      PUT: async (request) => new Response(await stored(request.body, request.params.name), { status: 201 }),
    },
    '/files/:name': (request) => sent(join(folder, request.params.name), request.headers.get('Range')),
  },
})
console.log(server.url.origin)

/** SHA-256 of the body, once it and its name are on the disk. */
async function stored(body: ReadableStream<Uint8Array> | null, name: string): Promise<string> {
  const file = await open(join(folder, name), 'wx')
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of body ?? []) {
    hash.update(chunk)
    await file.writeFile(chunk)
  }
  await file.datasync()
  await file.close()
  const parent = await open(folder)
  await parent.sync()
  await parent.close()
  return hash.digest('hex')
}

function sent(path: string, range: string | null): Response {
  const file = Bun.file(path)
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (first === undefined || last === undefined) return new Response(file)
  return new Response(file.slice(Number(first), Number(last) + 1), {
    status: 206,
    headers: { 'Content-Range': `bytes ${first}-${last}/${file.size}` },
  })
}
