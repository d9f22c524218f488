/** Resumable uploads to a server that is killed again and again. */
// Only in test:all: rounds of kills.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { guestAt, openPatch, tus } from '../support/clients/tus.ts'
import { type StartedInParts, startInParts } from '../support/clients/tus-parts.ts'
import { eventually } from '../support/eventually.ts'
import { startChild, temporaryFolder } from '../support/processes/child.ts'

const MIB = 1024 ** 2
const SEED = 41
const SETTINGS = { MIN_FREE_SPACE: '1MB' }

/** Downloads a file while it is being uploaded, from one server after another. */
function follower() {
  const chunks: Uint8Array[] = []
  let came = 0
  return {
    came: () => came,
    bytes: () => Buffer.concat(chunks),
    /** Goes on where it was, until it breaks off or all has come. */
    async follow(url: string, slug: string): Promise<void> {
      const headers: Record<string, string> = came === 0 ? {} : { range: `bytes=${came}-` }
      try {
        const response = await fetch(`${url}/d/${slug}?download=1&wait=1`, { headers })
        if (!response.ok) return
        for await (const chunk of response.body ?? []) {
          chunks.push(chunk)
          came += chunk.length
        }
      } catch {
        // The server was killed.
      }
    },
  }
}

test('an upload through three kills arrives whole, also for whoever downloads it meanwhile, and no offset is told that is not there', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const random = chance(SEED)
  const content = random.bytes(40 * MIB)
  let path = ''
  let slug = ''
  /** What a server has told of the offset, which no later one may take back. */
  let told = 0
  const reader = follower()
  for (let kills = 0; kills < 3; kills++) {
    await using server = await startChild(dataDir, SETTINGS)
    const client = tus(guestAt(server.url))
    if (path === '') ({ path, slug } = await client.start(content.length, { filename: 'killed.bin' }))
    const offset = await client.offset(path)
    expect(offset).toBeGreaterThanOrEqual(told)
    told = offset
    const following = reader.follow(server.url, slug)
    await eventually('what was kept has come', () => reader.came() >= offset - 1)
    const upTo = Math.min(content.length - MIB, offset + random.whole(1, 16 * MIB))
    // Half of the servers are told to keep a piece before, so that kills meet both beginnings and middles.
    if (random.fraction() < 0.5 && offset + 1000 < upTo) {
      const answer = await client.patch(path, offset, content.slice(offset, offset + 1000))
      expect(answer.headers.get('upload-offset')).toBe(String(offset + 1000))
      told = offset + 1000
    }
    const patch = await openPatch(server.url, path, { offset: told, length: content.length - told })
    for (let at = told; at < upTo; at += MIB) {
      await patch.send(content.subarray(at, Math.min(upTo, at + MIB)))
      await Bun.sleep(random.whole(0, 60))
    }
    const look = await client.look(path)
    expect(look.status).toBe(200)
    await server.kill()
    patch.destroy()
    await following
  }
  await using server = await startChild(dataDir, SETTINGS)
  const client = tus(guestAt(server.url))
  const offset = await client.offset(path)
  expect(offset).toBeGreaterThanOrEqual(told)
  expect((await client.patch(path, offset, content.slice(offset))).status).toBe(204)
  expect(await client.look(path)).toMatchObject({ body: { status: 'completed', sha256: sha256(content) } })
  expect(await readBack(server.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
  await reader.follow(server.url, slug)
  expect(sha256(reader.bytes())).toBe(sha256(content))
  await server.stop()
}, 300_000)

test('an upload in parts goes on after kills, and so does whoever downloads it meanwhile', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const random = chance(SEED + 2)
  const length = 8 * MIB
  const content = random.bytes(3 * length)
  const reader = follower()
  let upload: StartedInParts | null = null
  // What is sent of the parts until the server is killed: then they are only being joined.
  for (const upTo of [
    [0.6, 0.3, 0],
    [1, 0.8, 0.5],
    [1, 1, 1],
  ]) {
    await using server = await startChild(dataDir, SETTINGS)
    const client = tus(guestAt(server.url))
    upload ??= await startInParts(client, content.length, length)
    const { path, slug, parts } = upload
    const offsets = await Promise.all(parts.map((part) => client.offset(part)))
    const following = reader.follow(server.url, slug)
    await eventually('what was kept of the first has come', () => reader.came() >= (offsets[0] ?? 0))
    const patches = await Promise.all(
      parts.map(async (part, at) => {
        const [offset = 0, share = 0] = [offsets[at], upTo[at]]
        const patch = await openPatch(server.url, part, { offset, length: length - offset })
        const from = at * length
        await patch.send(content.subarray(from + offset, from + Math.max(offset, length * share)))
        return patch
      }),
    )
    await Bun.sleep(random.whole(0, 60))
    const looked = client.look(path).catch(() => null)
    await Bun.sleep(random.whole(0, 60))
    await server.kill()
    for (const patch of patches) patch.destroy()
    await Promise.all([looked, following])
  }
  await using server = await startChild(dataDir, SETTINGS)
  const client = tus(guestAt(server.url))
  const { path = '', slug = '', parts = [] } = upload ?? {}
  for (const [at, part] of parts.entries()) {
    const [offset, from] = [await client.offset(part), at * length]
    if (offset < length) await client.patch(part, offset, content.slice(from + offset, from + length))
  }
  await eventually('it is a file', async () => (await client.head(path)).headers.has('upload-offset'))
  expect(await client.look(path)).toMatchObject({ body: { status: 'completed', sha256: sha256(content) } })
  await reader.follow(server.url, slug)
  expect(sha256(reader.bytes())).toBe(sha256(content))
  await server.stop()
}, 300_000)

test('a server that is killed after the last byte leaves the file to the next one', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const random = chance(SEED + 1)
  for (let kills = 0; kills < 2; kills++) {
    const content = random.bytes(20 * MIB)
    let path = ''
    {
      await using server = await startChild(dataDir, SETTINGS)
      const client = tus(guestAt(server.url))
      ;({ path } = await client.start(content.length))
      await client.patch(path, 0, content.slice(0, 17 * MIB))
      const last = client.patch(path, 17 * MIB, content.slice(17 * MIB)).catch(() => null)
      await Bun.sleep(random.whole(0, 60))
      await server.kill()
      await last
    }
    await using server = await startChild(dataDir, SETTINGS)
    const client = tus(guestAt(server.url))
    const offset = await client.offset(path)
    if (offset < content.length) await client.patch(path, offset, content.slice(offset))
    expect(await client.look(path)).toMatchObject({ body: { status: 'completed', sha256: sha256(content) } })
    await server.stop()
  }
}, 300_000)
