/** Files that are downloaded while they are still being uploaded. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { HOUR, MINUTE, SECOND } from '../../../src/domain/clock.ts'
import { chance } from '../../support/chance.ts'
import { type Api, api } from '../../support/clients/api.ts'
import { sha256 } from '../../support/clients/caller.ts'
import { changeFolder, GENEROUS, makeFolder, visit } from '../../support/clients/public.ts'
import { openPatch, type Started, type Tus, tus } from '../../support/clients/tus.ts'
import { startInParts } from '../../support/clients/tus-parts.ts'
import { eventually } from '../../support/eventually.ts'
import { slowReader } from '../../support/network/slow-reader.ts'
import { onCluster } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const KIB = 1024
const MIB = 1024 * KIB
const random = chance(92)

let key: string
let account: Api
let client: Tus
const host = await hostOfFile(GENEROUS)
beforeAll(async () => {
  key = (await host.addAccount()).apiKey
  account = api(host, key)
  client = tus(account)
})

const wait = (slug: string, headers: Record<string, string> = {}) =>
  visit(host, `/d/${slug}?download=1&wait=1`, { headers, redirect: 'follow' })

/** What came, and how it ended. */
interface Reading {
  readonly came: () => number
  readonly done: Promise<{ readonly bytes: Uint8Array; readonly isBroken: boolean }>
}

function reading(response: Response): Reading {
  const chunks: Uint8Array[] = []
  let came = 0
  const read = async () => {
    try {
      for await (const chunk of response.body ?? []) {
        chunks.push(chunk)
        came += chunk.length
      }
      return { bytes: Buffer.concat(chunks), isBroken: false }
    } catch {
      return { bytes: Buffer.concat(chunks), isBroken: true }
    }
  }
  return { came: () => came, done: read() }
}

const sizeOf = ({ bytes, isBroken }: Awaited<Reading['done']>) => ({ size: bytes.length, isBroken })

async function downloadsOf(slug: string): Promise<unknown> {
  const { body } = await account.get(`/api/v1/file/${slug}`)
  return (body as { data?: { downloads?: number } }).data?.downloads
}

test('a file that was waited for comes whole, also from a store of objects', async () => {
  const content = random.bytes(300 * KIB)
  const { path, slug } = await client.start(content.length, { filename: 'späť.bin' })
  const asked = wait(slug)
  await client.patch(path, 0, content)
  const response = await asked
  expect(response.status).toBe(200)
  expect(response.headers.get('content-disposition')).toContain('attachment')
  expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(content))
  await host.runJobs()
  expect(await downloadsOf(slug)).toBe(1)
})

test('who may not see the file learns nothing of it', async () => {
  const folder = await makeFolder(host, key, { name: 'private', public: 0 })
  const { slug } = await client.start(10, { filename: 'a.txt', folder })
  expect((await wait(slug)).status).toBe(404)
  const secret = await makeFolder(host, key, { name: 'secret', public: 1, password: 'sesame' })
  const locked = await client.start(10, { filename: 'b.txt', folder: secret })
  expect((await wait(locked.slug)).status).toBe(403)
  expect((await wait('Zz0000000000')).status).toBe(404)
})

/** For what is above the store, and so the same on each. */
const testOnce = test.skipIf(onCluster)

describe('while it arrives', () => {
  async function half(content: Uint8Array<ArrayBuffer>): Promise<Started> {
    const started = await client.start(content.length, { filename: 'film.mkv' })
    await client.patch(started.path, 0, content.slice(0, content.length / 2))
    return started
  }

  test('what is durable is sent at once, and the rest as it comes', async () => {
    const content = random.bytes(400 * KIB)
    const { path, slug } = await half(content)
    const response = await wait(slug)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': String(content.length),
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="film.mkv"',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
    })
    expect(response.headers.get('etag')).toBeNull()
    const { came, done } = reading(response)
    await eventually('half of it came', () => came() === 200 * KIB)
    await client.patch(path, 200 * KIB, content.slice(200 * KIB, 300 * KIB))
    await eventually('more of it came', () => came() === 300 * KIB)
    await client.patch(path, 300 * KIB, content.slice(300 * KIB))
    const { bytes, isBroken } = await done
    expect({ isBroken, hash: sha256(bytes) }).toEqual({ isBroken: false, hash: sha256(content) })
  })

  test('who comes in the middle of a long request gets what it has brought, also while its sender is quiet', async () => {
    const content = random.bytes(26 * MIB)
    const { path, slug } = await client.start(content.length, { filename: 'film.mkv' })
    const patch = await openPatch(host.url, path, {
      offset: 0,
      length: content.length,
      headers: { authorization: `Bearer ${key}` },
    })
    await patch.send(content.subarray(0, 18 * MIB))
    await eventually('some of it is recorded', async () => {
      const { body } = await client.look(path)
      return ((body as { received?: number }).received ?? 0) > 0
    })
    const response = await wait(slug)
    const { came, done } = reading(response)
    await eventually('what was sent came', () => came() === 18 * MIB)
    await patch.send(content.subarray(18 * MIB))
    await patch.answer()
    patch.destroy()
    const { bytes, isBroken } = await done
    expect({ isBroken, hash: sha256(bytes) }).toEqual({ isBroken: false, hash: sha256(content) })
  })

  test('a later part is sent when it comes, and a download goes on where it broke off', async () => {
    const content = random.bytes(200 * KIB)
    const { path, slug } = await half(content)
    const asked = wait(slug, { range: `bytes=${150 * KIB}-` })
    const middle = await wait(slug, { range: 'bytes=1000-1999' })
    expect(Buffer.from(await middle.arrayBuffer()).equals(content.slice(1000, 2000))).toBe(true)
    const conditional = await wait(slug, { range: 'bytes=1000-1999', 'if-range': '"a"' })
    expect(conditional.status).toBe(200)
    await conditional.body?.cancel()
    expect((await wait(slug, { range: `bytes=${content.length}-` })).status).toBe(416)
    await client.patch(path, 100 * KIB, content.slice(100 * KIB, 180 * KIB))
    const later = await asked
    expect(later.status).toBe(206)
    expect(later.headers.get('content-range')).toBe(
      `bytes ${150 * KIB}-${content.length - 1}/${content.length}`,
    )
    const { done } = reading(later)
    await client.patch(path, 180 * KIB, content.slice(180 * KIB))
    const { bytes } = await done
    expect(sha256(bytes)).toBe(sha256(content.slice(150 * KIB)))
  })

  testOnce('an upload of unknown length ends where it ends', async () => {
    const content = random.bytes(150 * KIB)
    const { path, slug } = await client.start(null, { filename: 'log' })
    await client.patch(path, 0, content.slice(0, 100 * KIB))
    const response = await wait(slug)
    expect(response.headers.get('content-length')).toBeNull()
    const { came, done } = reading(response)
    await eventually('what is there came', () => came() === 100 * KIB - 1)
    await client.patch(path, 100 * KIB, content.slice(100 * KIB), {
      'upload-length': String(content.length),
    })
    const { bytes, isBroken } = await done
    expect({ isBroken, hash: sha256(bytes) }).toEqual({ isBroken: false, hash: sha256(content) })
  })

  testOnce('an upload that is given up breaks the download off, and then there is nothing', async () => {
    const { path, slug } = await half(random.bytes(100 * KIB))
    await expectBrokenOff(slug, () => client.remove(path))
  })

  async function expectBrokenOff(slug: string, giveUp: () => Promise<unknown>): Promise<void> {
    const response = await wait(slug)
    const { came, done } = reading(response)
    await eventually('half of it came', () => came() === 50 * KIB)
    await giveUp()
    expect(sizeOf(await done)).toEqual({ size: 50 * KIB, isBroken: true })
    expect((await wait(slug)).status).toBe(404)
  }

  testOnce.each([true, false])(
    'who may no longer see the file gets no more of it, whether more comes: %j',
    async (comes) => {
      const content = random.bytes(100 * KIB)
      const folder = await makeFolder(host, key, { name: `open ${comes}`, public: 1 })
      const { path, slug } = await client.start(content.length, { filename: 'a.bin', folder })
      await client.patch(path, 0, content.slice(0, 50 * KIB))
      const response = await wait(slug)
      const { came, done } = reading(response)
      await eventually('half of it came', () => came() === 50 * KIB)
      await changeFolder(host, key, folder, { public: 0 })
      if (comes) await client.patch(path, 50 * KIB, content.slice(50 * KIB, 90 * KIB))
      else host.clock.advance(10 * SECOND)
      expect(sizeOf(await done)).toEqual({ size: 50 * KIB, isBroken: true })
    },
  )

  // Besides, each node counts its own readers.
  testOnce('many may wait for one file, and one address for 16 at most', async () => {
    const content = random.bytes(64 * KIB)
    const { path, slug } = await half(content)
    const readers: Reading[] = []
    for (let n = 0; n < 16; n++) readers.push(reading(await wait(slug)))
    const refused = await wait(slug)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('5')
    await client.patch(path, 32 * KIB, content.slice(32 * KIB))
    for (const { done } of readers) {
      expect(sha256((await done).bytes)).toBe(sha256(content))
    }
    const again = await wait(slug)
    expect(sha256(Buffer.from(await again.arrayBuffer()))).toBe(sha256(content))
  })

  testOnce('without wait the bytes are not there yet, and HEAD waits for nothing', async () => {
    const { slug } = await half(random.bytes(10 * KIB))
    const address = `/d/${slug}?download=1`
    const refused = await visit(host, address)
    expect(refused.status).toBe(404)
    expect(refused.headers.get('retry-after')).toBe('10')
    expect((await visit(host, `${address}&wait=1`, { method: 'HEAD' })).status).toBe(404)
  })

  describe('in parts', () => {
    test('they are sent in their order as they grow, and the last byte when they are joined', async () => {
      const content = random.bytes(400 * KIB)
      const { path, slug, send } = await startInParts(client, content.length, 150 * KIB)
      const asked = wait(slug)
      await send(content, 150 * KIB, 250 * KIB)
      await send(content, 0, 100 * KIB)
      const response = await asked
      expect(response.status).toBe(200)
      expect(response.headers.get('content-length')).toBe(String(content.length))
      const { came, done } = reading(response)
      await eventually('what is here of the first came', () => came() === 100 * KIB)
      await send(content, 300 * KIB, 400 * KIB)
      await send(content, 100 * KIB, 150 * KIB)
      await eventually('the second came as far as it is here', () => came() === 250 * KIB)
      await send(content, 250 * KIB, 300 * KIB)
      await eventually('all but its last byte came', () => came() === content.length - 1)
      expect(await (await visit(host, `/d/${slug}`)).text()).toContain('All 400 KB is here')
      expect(await client.look(path)).toMatchObject({ body: { received: content.length } })
      const { bytes, isBroken } = await done
      expect({ isBroken, hash: sha256(bytes) }).toEqual({ isBroken: false, hash: sha256(content) })
      await host.runJobs()
      expect(await downloadsOf(slug)).toBe(1)
    })

    test('a download goes on in the middle of a part, also where those before it are not here', async () => {
      const content = random.bytes(400 * KIB)
      const { path, slug, send } = await startInParts(client, content.length, 100 * KIB)
      const begin = 250 * KIB
      await send(content, 200 * KIB, 280 * KIB)
      const response = await wait(slug, { range: `bytes=${begin}-` })
      expect(response.status).toBe(206)
      expect(response.headers.get('content-range')).toBe(
        `bytes ${begin}-${content.length - 1}/${content.length}`,
      )
      const { came, done } = reading(response)
      await eventually('what is here from there on came', () => came() === 30 * KIB)
      const across = wait(slug, { range: `bytes=${99 * KIB}-${101 * KIB - 1}`, 'if-range': '"a"' })
      for (const [from, to] of [
        [300, 400],
        [280, 300],
        [100, 200],
        [0, 100],
      ] as const) {
        await send(content, from * KIB, to * KIB)
      }
      const whole = reading(await across)
      await eventually('all but the last byte came', () => whole.came() === content.length - 1)
      const middle = await wait(slug, { range: `bytes=${99 * KIB}-${301 * KIB - 1}` })
      expect(Buffer.from(await middle.arrayBuffer()).equals(content.slice(99 * KIB, 301 * KIB))).toBe(true)
      await client.look(path)
      expect(sha256((await done).bytes)).toBe(sha256(content.slice(begin)))
      expect(sha256((await whole.done).bytes)).toBe(sha256(content))
    })

    test('a download that is slower than the upload goes on in the file when the parts are gone', async () => {
      const content = random.bytes(24 * MIB)
      const { path, slug, send } = await startInParts(client, content.length, 6 * MIB)
      for (const from of [0, 6 * MIB, 12 * MIB]) await send(content, from, from + 6 * MIB)
      const before = new Set(await host.storedBlobs())
      const reader = await slowReader(`${host.url}/d/${slug}?download=1&wait=1`)
      await reader.readUpTo(MIB)
      await send(content, 18 * MIB, 24 * MIB)
      await eventually('it is a file', async () => (await client.head(path)).headers.has('upload-offset'))
      host.clock.advance(2 * MINUTE)
      await host.runJobs()
      const left = (await host.storedBlobs()).filter((key) => before.has(key))
      expect(before.size - left.length).toBeGreaterThanOrEqual(3)
      const { body, isWhole } = await reader.readOn()
      expect({ isWhole, hash: sha256(body) }).toEqual({ isWhole: true, hash: sha256(content) })
    })

    testOnce.each([
      ['the whole', null],
      ['a part that was sent', 0],
      ['a part that is awaited', 3],
    ])('whoever gives up %s breaks the download off', async (_, at) => {
      const content = random.bytes(100 * KIB)
      const { path, slug, parts, send } = await startInParts(client, content.length, 25 * KIB)
      await send(content, 0, 25 * KIB)
      await send(content, 25 * KIB, 50 * KIB)
      await expectBrokenOff(slug, () => client.remove((at === null ? path : parts[at]) ?? ''))
    })

    testOnce('parts that expire break the download off', async () => {
      const content = random.bytes(100 * KIB)
      const { slug, send } = await startInParts(client, content.length, 50 * KIB)
      await send(content, 0, 50 * KIB)
      await expectBrokenOff(slug, async () => {
        host.clock.advance(25 * HOUR)
        await host.runJobs()
      })
    })
  })
})
