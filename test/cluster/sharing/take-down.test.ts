/** Contents that administrators take down: gone for everybody at once, and refused on every way in. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { MINUTE } from '../../../src/domain/clock.ts'
import { type Answer, type Api, api, newcomer, refusal, type Uploaded } from '../../support/clients/api.ts'
import { binOf, intoBin, totals } from '../../support/clients/bin.ts'
import { tus } from '../../support/clients/tus.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { eventually } from '../../support/eventually.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'
import { administrator, type TestAdministrator } from '../../support/sign-in/administrator.ts'
import { unsoundTotals } from '../../support/storage/soundness.ts'

let admin: TestAdministrator
const host = await hostOfFile({
  rateLimit: 1_000_000,
  sessionRateLimit: 1_000_000,
  guestRateLimit: 1_000_000,
})
beforeAll(async () => {
  admin = await administrator(host)
}, 120_000)

const takenDown = z.object({ sha256: z.string(), files: z.number() })
const takeDown = async (body: object) => (await admin.act('POST', '/take-down', body)).data(takenDown)
const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text))

/** A content that nobody has had before. */
const fresh = () => `content ${crypto.randomUUID()}`

async function signed(file: Uploaded): Promise<string> {
  const sign = z.object({ server: z.string(), file: z.string(), token: z.string() })
  const answer = await api(host).post('/v2/api/public/download', { file_slug: file.slug })
  const { server, file: name, token } = sign.parse(answer.body)
  return `${server}/v2/${name}?token=${token}&download=true`
}

describe('taking a content down', () => {
  test('takes every file that has it from everybody, wherever it is, at every node', async () => {
    const content = fresh()
    const [owner, other] = [await newcomer(host), await newcomer(host)]
    const folder = await owner.folder('pictures')
    const below = await owner.folder('below', { parent: folder })
    const alive = [
      await owner.put(content, { name: 'one.txt' }),
      await owner.put(content, { name: 'two.txt', folder: below }),
      await api(host).put(content, { name: 'guest.txt' }),
    ]
    const innocent = await owner.put('innocent', { folder: below })
    const binned = await other.put(content)
    const [entry = 0] = await intoBin(other, { files: [binned.slug] })
    const away = await other.folder('away')
    const deeper = await other.folder('deeper', { parent: away })
    const inBin = await other.put(content, { folder: deeper })
    await other.put('beside it', { folder: deeper, name: 'beside.txt' })
    const [folderEntry = 0] = await intoBin(other, { folders: [away] })
    const kept = await other.put('kept')
    const addresses = [...alive.map(({ url }) => url), ...(await Promise.all(alive.map(signed)))]
    const zip = z.object({ data: z.object({ url: z.string() }) })
    const archive = zip.parse((await owner.post('/api/v1/files/download', { files: [alive[0]?.slug] })).body)
    addresses.push(archive.data.url)
    for (const address of addresses) expect((await fetch(address)).status).toBe(200)

    await api(host).post('/api/v1/file/report', { slug: alive[0]?.slug, reason: 'malware', text: 'Look' })
    await api(host).post('/api/v1/file/report', { slug: alive[1]?.slug, reason: 'illegal' })
    const report = z.object({
      id: z.number(),
      state: z.string(),
      file: z.object({ sha256: z.string(), is_here: z.boolean() }),
    })
    const [, first] = await admin.read('/reports', z.array(report))
    expect(first).toMatchObject({ state: 'open', file: { sha256: alive[0]?.sha256, is_here: true } })
    const taken = (await admin.act('POST', `/report/${first?.id}/take-down`)).data(takenDown)
    expect(taken).toEqual({ sha256: alive[0]?.sha256 ?? '', files: 5 })

    for (let asked = 0; asked < 3; asked++) {
      for (const address of addresses) expect((await fetch(address)).status).toBe(404)
      for (const { slug, uuid } of alive) {
        expect((await fetch(`${host.url}/t/${uuid}`)).status).toBe(404)
        expect((await fetch(`${host.url}/d/${slug}?download=1`, { redirect: 'manual' })).status).toBe(404)
        expect(await owner.get(`/api/v1/file/${slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
      }
    }
    expect(await totals(owner)).toMatchObject({ files_count: 1, storage_used: innocent.size })
    // The folder in the bin has one file left, the file by itself is there no more.
    expect(await binOf(other)).toMatchObject([{ id: folderEntry, files: 1, size: 9 }])
    const restored = await other.post('/api/v1/bin/restore', { entries: [entry, folderEntry] })
    expect(restored.body).toMatchObject({
      success: false,
      data: { results: [{ success: false, error: 'NOT_FOUND' }, { success: true }] },
    })
    expect(await totals(other)).toMatchObject({
      files_count: 2,
      storage_used: 9 + kept.size,
      storage_in_bin: 0,
    })
    expect(await other.get(`/api/v1/file/${inBin.slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))

    expect(await admin.read('/reports', z.array(report))).toEqual([])
    const closed = await admin.read('/reports?state=closed', z.array(report))
    expect(closed.map(({ state, file }) => [state, file.is_here])).toEqual([
      ['taken_down', false],
      ['taken_down', false],
    ])
    const [deed] = await admin.deeds('content.taken_down')
    expect(deed).toMatchObject({
      object: taken.sha256,
      account: { username: 'root' },
      details: { report: first?.id },
    })
    await host.runJobs()
    expect(await unsoundTotals(host.database)).toEqual([])
  })

  test('frees the room of a file once where its bin was emptied', async () => {
    const owner = await newcomer(host)
    const file = await owner.put(fresh())
    const kept = await owner.put('kept')
    await intoBin(owner, { files: [file.slug] })
    expect(await owner.send('/api/v1/bin', { method: 'DELETE' })).toMatchObject({ status: 200 })
    await takeDown({ sha256: file.sha256 })
    expect(await totals(owner)).toMatchObject({ storage_used: kept.size, storage_in_bin: 0 })
    await host.runJobs()
    expect(await unsoundTotals(host.database)).toEqual([])
  })

  test('leaves nothing of what is uploaded at the same time', async () => {
    const owner = await newcomer(host)
    const content = fresh()
    const first = await owner.put(content)
    const uploads = Array.from({ length: 24 }, async (_, at) => {
      await Bun.sleep(at)
      return owner.upload(content)
    })
    const [answers] = await Promise.all([Promise.all(uploads), takeDown({ sha256: first.sha256 })])
    for (const { status } of answers) expect([200, 403]).toContain(status)
    expect(await totals(owner)).toMatchObject({ files_count: 0, storage_used: 0 })
    expect(await owner.upload(content)).toMatchObject(refusal('CONTENT_REFUSED'))
  })

  test('ends where the content is allowed meanwhile, and leaves what is uploaded from then on', async () => {
    const owner = await newcomer(host)
    const content = fresh()
    const { sha256, file_id } = await owner.put(content)
    await addCopies(host.database, file_id, 600)
    const taking = takeDown({ sha256 })
    await eventually('it is allowed', async () => {
      return (await admin.send('DELETE', `/api/v1/admin/refused/${sha256}`)).status === 200
    })
    const { url } = await owner.put(content)
    await api(host).post('/api/v1/file/report', { slug: url.split('/').at(-1), reason: 'spam' })
    await taking
    await host.runJobs()
    expect((await fetch(url)).status).toBe(200)
    const [report] = await admin.read(
      '/reports',
      z.array(z.object({ file: z.object({ sha256: z.string() }) })),
    )
    expect(report?.file.sha256).toBe(sha256)
    await takeDown({ sha256 })
    expect((await fetch(url)).status).toBe(404)
  })

  test('of a content that cannot be taken down keeps no other waiting', async () => {
    const { database } = host
    const { id, apiKey } = await host.addAccount()
    // In the order in which they wait.
    const hash = (content: string) => Bun.SHA256.hash(content, 'hex')
    const [one = '', other = ''] = [fresh(), fresh()].sort((a, b) => (hash(a) < hash(b) ? -1 : 1))
    const broken = await api(host, apiKey).put(one)
    const well = await (await newcomer(host)).put(other)
    const storage = (used: number) => sql`update accounts set storage_used = ${used} where id = ${id}`
    await storage(0).execute(database)
    for (const { sha256 } of [broken, well]) {
      await sql`insert into refused_contents (sha256, refused_at) values (${sha256}, 1)`.execute(database)
    }
    for (let run = 0; run < 6; run++) await host.runJobs()
    expect((await fetch(well.url)).status).toBe(404)
    await storage(broken.size).execute(database)
    await host.runJobs()
    expect((await fetch(broken.url)).status).toBe(404)
  })

  test.each([
    ['nothing', {}],
    ['both a file and a hash', { file: 'Kx3RmP7vTq2a', sha256: 'a'.repeat(64) }],
    ['what is no hash', { sha256: 'abc' }],
  ])('is refused for %s', async (_, body) => {
    expect((await admin.send('POST', '/api/v1/admin/take-down', body)).error).toBe('INVALID_REQUEST')
  })

  test('is not found for a file and a report that are not there', async () => {
    const lost = await admin.send('POST', '/api/v1/admin/take-down', { file: 'Kx3RmP7vTq2a' })
    expect(lost.error).toBe('FILE_NOT_FOUND')
    expect((await admin.send('POST', '/api/v1/admin/report/999999/take-down')).error).toBe('NOT_FOUND')
  })
})

describe('a content that was taken down', () => {
  const content = fresh()
  let owner: Api
  let replay: Answer
  let begun: { path: string; parts: string[] }

  beforeAll(async () => {
    owner = await newcomer(host)
    const client = tus(owner)
    replay = await owner.upload(content, { headers: { 'idempotency-key': 'an earlier request' } })
    expect(replay.status).toBe(200)
    const { path } = await client.start(content.length)
    expect((await client.patch(path, 0, bytes(content.slice(0, 9)))).status).toBe(204)
    const parts: string[] = []
    for (const piece of [content.slice(0, 5), content.slice(5)]) {
      const part = await client.start(piece.length, {}, { 'upload-concat': 'partial' })
      expect((await client.patch(part.path, 0, bytes(piece))).status).toBe(204)
      parts.push(part.path)
    }
    begun = { path, parts }
    await takeDown({ sha256: Bun.SHA256.hash(content, 'hex') })
  })

  const ways: Readonly<Record<string, () => Promise<Answer>>> = {
    'as a form': () => owner.upload(content),
    'as a form without a length': () => owner.upload(content, { chunked: true }),
    'under another name by a guest': () => api(host).upload(content, { name: 'other.txt' }),
    'as a form with a key for repeating': () =>
      owner.upload(content, { headers: { 'idempotency-key': 'a new request' } }),
    'as an earlier request that is repeated': () =>
      owner.upload(content, { headers: { 'idempotency-key': 'an earlier request' } }),
    'with the last bytes of an upload that was begun before': () =>
      tus(owner).patch(begun.path, 9, bytes(content.slice(9))),
    'in the request that begins a resumable upload': () =>
      tus(owner).create({ 'upload-length': String(content.length) }, bytes(content)),
  }

  test.each(Object.keys(ways))('is refused %s', async (way) => {
    const answer = await ways[way]?.()
    expect(answer).toMatchObject(refusal('CONTENT_REFUSED'))
    expect(await totals(owner)).toMatchObject({ files_count: 0, storage_used: 0 })
  })

  test('is refused when it is joined of parts', async () => {
    const client = tus(owner)
    const joined = await client.create({ 'upload-concat': `final;${begun.parts.join(' ')}` })
    const slug = joined.headers.get('holdfast-slug') ?? ''
    await eventually('it has failed', async () => {
      const { body } = await owner.get(`/api/v1/upload/status?slug=${slug}`)
      return JSON.stringify(body).includes('failed')
    })
    expect((await fetch(`${host.url}/d/${slug}`)).status).toBe(404)
    expect(await totals(owner)).toMatchObject({ files_count: 0, storage_used: 0 })
  })

  test('leaves nothing behind of what was refused', async () => {
    await host.runJobs()
    expect(await unsoundTotals(host.database)).toEqual([])
    const open = await host.database
      .selectFrom('uploads')
      .select('id')
      .where('ended_at', 'is', null)
      .execute()
    expect(open).toEqual([])
  })

  test('is listed, and taken again once it is allowed, while its files stay gone', async () => {
    const sha256 = Bun.SHA256.hash(content, 'hex')
    const refused = z.array(z.object({ sha256: z.string(), files: z.number() }))
    expect(await admin.read('/refused', refused)).toContainEqual({ sha256, files: 1 })
    await admin.act('DELETE', `/refused/${sha256.toUpperCase()}`)
    const { slug } = await owner.put(content)
    expect((await fetch(`${host.url}/d/${slug}`)).status).toBe(200)
    expect(await totals(owner)).toMatchObject({ files_count: 1 })
    expect((await admin.send('DELETE', `/api/v1/admin/refused/${sha256}`)).error).toBe('NOT_FOUND')
    expect((await admin.deeds('content.allowed'))[0]?.object).toBe(sha256)
  })
})

test('a report that is dismissed is closed, once, and its file stays', async () => {
  const file = await (await newcomer(host)).put(fresh())
  await api(host).post('/api/v1/file/report', { slug: file.slug, reason: 'spam' })
  const report = z.object({ id: z.number(), state: z.string(), closed_at: z.string().nullable() })
  const [open] = await admin.read('/reports', z.array(report))
  await admin.act('POST', `/report/${open?.id}/dismiss`)
  const closed = await admin.read(`/report/${open?.id}`, report)
  expect(closed.state).toBe('dismissed')
  host.clock.advance(MINUTE)
  await admin.act('POST', `/report/${open?.id}/dismiss`)
  expect(await admin.read(`/report/${open?.id}`, report)).toEqual(closed)
  expect((await admin.deeds('report.dismissed')).length).toBe(1)
  expect((await fetch(file.url)).status).toBe(200)
})

// The last, because nodes that share a database trust nobody for some seconds after the clock has leapt.
test('the bytes of what was taken down are removed as those of any deleted file', async () => {
  const owner = await newcomer(host)
  await host.runJobs()
  host.clock.advance(2 * MINUTE)
  await host.runJobs()
  const before = await host.storedBlobs()
  const file = await owner.put(fresh())
  expect((await host.storedBlobs()).length).toBe(before.length + 1)
  await takeDown({ file: file.slug })
  await host.runJobs()
  host.clock.advance(2 * MINUTE)
  await host.runJobs()
  expect(await host.storedBlobs()).toEqual(before)
})
