/**
 * A bare Bun server, without keys, database, limits or log: `<folder>`. It hashes, writes and syncs a PUT to
 * `/put/<name>`, sends `/files/<name>` or a range of it, and serializes the JSON that was posted to `/json/<name>` again for
 * each GET of it. Prints its address when it listens.
 */
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const [folder = ''] = process.argv.slice(2)
const answers = new Map<string, unknown>()

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  routes: {
    '/put/:name': {
      PUT: async ({ body, params }) => new Response(await stored(body, params.name), { status: 201 }),
    },
    '/files/:name': ({ params, headers }) => sent(join(folder, params.name), headers.get('Range')),
    '/json/:name': {
      GET: ({ params }) => Response.json(answers.get(params.name)),
      POST: async (request) => {
        answers.set(request.params.name, await request.json())
        return new Response()
      },
    },
  },
})
console.log(server.url.origin)

/** SHA-256 of the body, once it and its name are on the disk. */
async function stored(body: ReadableStream<Uint8Array> | null, name: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  {
    await using file = await open(join(folder, name), 'wx')
    for await (const chunk of body ?? []) {
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    await file.datasync()
  }
  await using parent = await open(folder)
  await parent.sync()
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
