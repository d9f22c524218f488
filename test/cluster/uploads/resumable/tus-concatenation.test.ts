/** The concatenation extension. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { hashToken } from '../../../../src/core/hmac.ts'
import { wholeSum } from '../../../../src/database/differences.ts'
import type { Slug, UploadToken } from '../../../../src/domain/ids.ts'
import { abandonUpload } from '../../../../src/uploads/resumable/concatenation.ts'
import { finalToken } from '../../../../src/uploads/resumable/creation.ts'
import { chance } from '../../../support/chance.ts'
import { type Answer, type Api, api, newcomer, refusal } from '../../../support/clients/api.ts'
import { readBack, sha256 } from '../../../support/clients/caller.ts'
import { metadata, type Tus, tus, UPLOADS } from '../../../support/clients/tus.ts'
import { eventually } from '../../../support/eventually.ts'
import { startHoldfast } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const MB = 1024 * 1024
const random = chance(8)

let caller: Api
let client: Tus
const holdfast = await hostOfFile({ storageLimit: 40 * MB })
beforeAll(async () => {
  caller = await newcomer(holdfast)
  client = tus(caller)
})

/** A part of these bytes that is whole. */
async function part(by: Tus, content: Uint8Array<ArrayBuffer>): Promise<string> {
  const { path } = await by.start(content.length, {}, { 'upload-concat': 'partial' })
  if (content.length > 0) expect((await by.patch(path, 0, content)).status).toBe(204)
  return path
}

const final = (by: Tus, parts: readonly string[], about: Record<string, string> = {}) =>
  by.create({ 'upload-concat': `final;${parts.join(' ')}`, 'upload-metadata': metadata(about) })

test('parts that came side by side are one file, in the order named', async () => {
  const contents = [random.bytes(3 * MB), random.bytes(1), random.bytes(6 * MB)]
  const paths = await Promise.all(contents.map((content) => part(client, content)))
  // Whole addresses are as good as paths.
  const named = paths.map((path, at) => (at === 0 ? holdfast.url + path : path))
  const answer = await final(client, named, { filename: 'joined.bin' })
  expect(answer.status).toBe(201)
  const path = answer.headers.get('location') ?? ''
  const whole = Buffer.concat(contents)
  await eventually('it is joined', async () => (await client.head(path)).headers.has('upload-offset'))
  const head = await client.head(path)
  expect(head.headers.get('upload-offset')).toBe(String(whole.length))
  expect(head.headers.get('upload-length')).toBe(String(whole.length))
  expect(head.headers.get('upload-concat')).toBe(`final;${named.join(' ')}`)
  expect(await client.look(path)).toMatchObject({ body: { status: 'completed', sha256: sha256(whole) } })
  const slug = answer.headers.get('holdfast-slug') ?? ''
  expect(await readBack(holdfast.url, slug)).toEqual({ size: whole.length, sha256: sha256(whole) })
  expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject({ body: { data: { name: 'joined.bin' } } })
})

test('HEAD tells a part for what it is', async () => {
  const path = await part(client, random.bytes(10))
  const head = await client.head(path)
  expect(head.headers.get('upload-concat')).toBe('partial')
  expect(head.headers.get('upload-offset')).toBe('10')
})

test('what a part is told of itself stays with it', async () => {
  const folder = await caller.folder('for a part')
  const content = random.bytes(10)
  const about = { filename: 'part.bin', filetype: 'image/png', folder }
  const { path } = await client.start(content.length, about, { 'upload-concat': 'partial' })
  await client.patch(path, 0, content)
  const answer = await final(client, [path], { filename: 'whole.bin' })
  expect(answer.headers.get('upload-metadata')).toBe(metadata({ filename: 'whole.bin' }))
  const joined = answer.headers.get('location') ?? ''
  await eventually('it is joined', async () => (await client.head(joined)).headers.has('upload-offset'))
  const slug = answer.headers.get('holdfast-slug') ?? ''
  expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject({
    body: { data: { name: 'whole.bin', type: 'application/octet-stream' } },
  })
  expect(await caller.get(`/api/v1/folder/${folder}/files`)).toMatchObject({ body: { data: [] } })
})

const named = z.object({ slug: z.string() })
const listed = z.object({ data: z.array(named.loose()) })

test('a part has no link of its own, and is cancelled by its slug', async () => {
  const created = await client.create({ 'upload-length': '10', 'upload-concat': 'partial' })
  const looked = await client.look(created.headers.get('location') ?? '')
  const { data } = listed.parse((await caller.get(UPLOADS)).body)
  const { slug } = named.parse(created.body)
  for (const told of [created.body, looked.body, data.find((upload) => upload.slug === slug)]) {
    expect(told).toMatchObject({ slug, size: 10 })
    expect(told).not.toHaveProperty('url')
  }
  expect(created.headers.get('holdfast-url')).toBeNull()
  expect(await caller.post('/api/v1/upload/cancel', { slug })).toMatchObject({ status: 200 })
  expect((await client.head(created.headers.get('location') ?? '')).status).toBe(404)
})

test('parts are no files, and joining them takes no second room', async () => {
  const own = await newcomer(holdfast)
  const by = tus(own)
  const paths = [await part(by, random.bytes(15 * MB)), await part(by, random.bytes(15 * MB))]
  expect(await own.get('/api/v1/account')).toMatchObject({
    body: { data: { files_count: 0, storage_used: 0 } },
  })
  const answer = await final(by, paths)
  expect(answer.status).toBe(201)
  const joined = answer.headers.get('location') ?? ''
  await eventually('it is joined', async () => (await by.head(joined)).headers.has('upload-offset'))
  expect(await own.get('/api/v1/account')).toMatchObject({
    body: { data: { files_count: 1, storage_used: 30 * MB } },
  })
})

describe('a final upload is refused', () => {
  test('when bytes are sent to it', async () => {
    const answer = await final(client, [await part(client, random.bytes(5))])
    const path = answer.headers.get('location') ?? ''
    expect(await client.patch(path, 5, random.bytes(1))).toMatchObject(refusal('UPLOAD_IS_FINAL'))
  })

  test('with a length of its own', async () => {
    const path = await part(client, random.bytes(5))
    const answer = await client.create({ 'upload-concat': `final;${path}`, 'upload-length': '5' })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('when a part is unknown, somebody else’s, no part, without a length, named twice or used up', async () => {
    const good = await part(client, random.bytes(5))
    const { path: unmeasured } = await client.start(null, {}, { 'upload-concat': 'partial' })
    const { path: whole } = await client.start(10)
    const theirs = await part(tus(await newcomer(holdfast)), random.bytes(5))
    const nobodys = `/api/v1/uploads/${'0'.repeat(32)}`
    expect(await final(client, [good, nobodys])).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
    expect(await final(client, [good, theirs])).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
    expect(await final(client, [good, whole])).toMatchObject(refusal('INVALID_REQUEST'))
    expect(await final(client, [good, unmeasured])).toMatchObject(refusal('OFFSET_CONFLICT'))
    expect(await final(client, [good, good])).toMatchObject(refusal('INVALID_REQUEST'))
    expect(await final(client, ['https://elsewhere.example/x'])).toMatchObject(refusal('INVALID_REQUEST'))
    const answer = await final(client, [good])
    expect(answer.status).toBe(201)
    const joined = answer.headers.get('location') ?? ''
    await eventually('it is joined', async () => (await client.head(joined)).headers.has('upload-offset'))
    expect(await final(client, [good])).toMatchObject(refusal('OFFSET_CONFLICT'))
  })
})

describe('a final upload that is created before its parts have come', () => {
  const sizes = [3, 2 * MB]
  const begin = async (by: Tus) => {
    const created = await Promise.all(sizes.map((size) => by.start(size, {}, { 'upload-concat': 'partial' })))
    const parts = created.map(({ path }) => path)
    const answer = await final(by, parts, { filename: 'awaited.bin' })
    expect(answer.status).toBe(201)
    const slug = answer.headers.get('holdfast-slug') ?? ''
    return { parts, path: answer.headers.get('location') ?? '', slug }
  }
  const [first = new Uint8Array(), second = new Uint8Array()] = sizes.map((size) => random.bytes(size))

  test.each(['account', 'guest'])(
    'has its link at once, and is stored with the last byte, by a(n) %s',
    async (kind) => {
      const by = kind === 'guest' ? tus(api(holdfast)) : client
      const { parts, path, slug } = await begin(by)
      await by.patch(parts[1] ?? '', 0, second)
      const size = 3 + second.length
      const here = { status: 'uploading', received: second.length, size }
      expect(await by.look(path)).toMatchObject({ status: 200, body: here })
      const head = await by.head(path)
      expect(head.headers.get('upload-concat')).toBe(`final;${parts.join(' ')}`)
      expect([head.headers.get('upload-offset'), head.headers.get('upload-length')]).toEqual([
        null,
        `${size}`,
      ])
      expect(await by.patch(path, 0, first)).toMatchObject(refusal('UPLOAD_IS_FINAL'))
      const status = `/api/v1/upload/status?slug=${slug}`
      if (kind === 'account') expect((await caller.get(status)).body).toMatchObject(here)
      await by.patch(parts[0] ?? '', 0, first)
      if (kind === 'account') {
        expect((await caller.get(status)).body).toMatchObject({ status: 'processing', received: size })
      }
      const looks = await Promise.all([by.look(path), by.look(path), by.head(path)])
      expect(looks.map((look) => look.status)).toEqual([200, 200, 200])
      await eventually('it is joined', async () => (await by.head(path)).headers.has('upload-offset'))
      expect(await readBack(holdfast.url, slug)).toEqual({
        size,
        sha256: sha256(Buffer.concat([first, second])),
      })
    },
  )

  test('ends with its parts, and cannot go on without one of them', async () => {
    const own = await newcomer(holdfast)
    const by = tus(own)
    const ended = await begin(by)
    await by.patch(ended.parts[0] ?? '', 0, first)
    expect((await by.remove(ended.path)).status).toBe(204)
    for (const path of ended.parts) expect((await by.head(path)).status).toBe(410)
    const lost = await begin(by)
    await by.patch(lost.parts[1] ?? '', 0, second)
    expect((await by.remove(lost.parts[0] ?? '')).status).toBe(204)
    expect(await by.look(lost.path)).toMatchObject(refusal('UPLOAD_GONE'))
    expect((await by.head(lost.parts[1] ?? '')).status).toBe(410)
    expect(await own.get('/api/v1/account')).toMatchObject({ body: { data: { storage_used: 0 } } })
    expect((await own.get(UPLOADS)).body).toMatchObject({ data: [] })
  })

  test('is found again by the same request under its idempotency key, also while bytes come', async () => {
    for (const by of [client, tus(api(holdfast))]) {
      const created = await Promise.all(
        sizes.map((size) => by.start(size, {}, { 'upload-concat': 'partial' })),
      )
      const parts = created.map(({ path }) => path)
      const ask = () =>
        by.create({
          'upload-concat': `final;${parts.join(' ')}`,
          'idempotency-key': 'a-key-that-is-long-enough',
        })
      const answers: Answer[] = await Promise.all([ask(), ask(), ask()])
      await by.patch(parts[1] ?? '', 0, second)
      answers.push(await ask())
      await by.patch(parts[0] ?? '', 0, first)
      answers.push(await ask())
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
      expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1)
      const path = answers[0]?.headers.get('location') ?? ''
      expect(answers[3]).toMatchObject({ body: { status: 'uploading', received: second.length } })
      await eventually('it is joined', async () => (await by.head(path)).headers.has('upload-offset'))
      expect((await by.remove(path)).status).toBe(204)
      expect([404, 409, 410]).toContain((await ask()).status)
    }
  })

  test('is stored when nobody looks at it any more', async () => {
    const { parts, slug } = await begin(client)
    await client.patch(parts[0] ?? '', 0, first)
    await holdfast.runJobs()
    await client.patch(parts[1] ?? '', 0, second)
    const isThere = async () => {
      await holdfast.runJobs()
      return (await caller.get(`/api/v1/file/${slug}`)).status === 200
    }
    await eventually('it is joined', isThere)
  })

  test('gives parts up that somebody else has used first', async () => {
    const one = await begin(client)
    await client.patch(one.parts[0] ?? '', 0, first)
    await client.patch(one.parts[1] ?? '', 0, second)
    expect((await final(client, one.parts)).status).toBe(201)
    expect(await client.look(one.path)).toMatchObject(refusal('UPLOAD_GONE'))
  })
})

describe('a final upload under an idempotency key', () => {
  const FINAL_KEY = 'a-key-that-is-long-enough'
  const keyed = (by: Tus, parts: readonly string[], key = FINAL_KEY, name = 'keyed.bin') =>
    by.create({
      'upload-concat': `final;${parts.join(' ')}`,
      'upload-metadata': metadata({ filename: name }),
      'idempotency-key': key,
    })

  test.each(['account', 'guest'])('is found again by the same request of a(n) %s', async (kind) => {
    const by = kind === 'guest' ? tus(api(holdfast)) : client
    const paths = [await part(by, random.bytes(7)), await part(by, random.bytes(8))]
    const answers = await Promise.all([keyed(by, paths), keyed(by, paths), keyed(by, paths)])
    answers.push(await keyed(by, paths))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1)
    const path = answers[0]?.headers.get('location') ?? ''
    await eventually('it is joined', async () => (await by.head(path)).headers.has('upload-offset'))
    expect((await keyed(by, paths)).headers.get('location')).toBe(path)
  })

  test('gets its parts from the same request when a node died before that', async () => {
    const paths = [await part(client, random.bytes(7)), await part(client, random.bytes(8))]
    const about = metadata({ filename: 'keyed.bin' })
    const parts = paths.map((path) => path.slice(path.lastIndexOf('/') + 1) as UploadToken)
    const token = finalToken(FINAL_KEY, parts, about)
    const { slug } = await client.start(null)
    await holdfast.database
      .updateTable('uploads')
      .set({ kind: 'final', token_hash: hashToken(token) })
      .where('slug', '=', slug as Slug)
      .execute()
    const answer = await keyed(client, paths)
    expect(answer.headers.get('holdfast-slug')).toBe(slug)
    const path = answer.headers.get('location') ?? ''
    await eventually('it is joined', async () => (await client.head(path)).headers.has('upload-offset'))
    expect(await client.look(path)).toMatchObject({ body: { status: 'completed', size: 15 } })
  })

  test('is another one with other parts, another key or another name', async () => {
    const paths = [await part(client, random.bytes(7)), await part(client, random.bytes(8))]
    expect((await keyed(client, paths)).status).toBe(201)
    expect(await keyed(client, paths.toReversed())).toMatchObject(refusal('OFFSET_CONFLICT'))
    expect(await keyed(client, paths, `${FINAL_KEY}-2`)).toMatchObject(refusal('OFFSET_CONFLICT'))
    expect(await keyed(client, paths, FINAL_KEY, 'other.bin')).toMatchObject(refusal('OFFSET_CONFLICT'))
  })

  test('is refused to a guest whose key is short', async () => {
    const guest = tus(api(holdfast))
    const paths = [await part(guest, random.bytes(7))]
    expect(await keyed(guest, paths, 'short')).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('is nobody else’s', async () => {
    const paths = [await part(client, random.bytes(7))]
    expect((await keyed(client, paths)).status).toBe(201)
    expect(await keyed(tus(await newcomer(holdfast)), paths)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
    expect(await keyed(tus(api(holdfast)), paths)).toMatchObject(refusal('INVALID_API_KEY'))
  })
})

test('of a guest’s uploads an hour the whole counts, and its parts have a limit of their own', async () => {
  const strict = await startHoldfast({ guestRateLimit: 2 })
  try {
    const by = tus(api(strict))
    for (const round of [1, 2]) {
      const paths = await Promise.all([1, 2, 3, 4].map((size) => part(by, random.bytes(size * round))))
      expect((await final(by, paths)).status).toBe(201)
    }
    const another = { 'upload-length': '1', 'upload-concat': 'partial' }
    expect(await by.create(another)).toMatchObject(refusal('RATE_LIMITED'))
    strict.clock.advance(3_700_000)
    for (let count = 0; count < 64; count += 1) expect((await by.create(another)).status).toBe(201)
    expect(await by.create(another)).toMatchObject(refusal('RATE_LIMITED'))
  } finally {
    await strict.stop()
  }
})

test('parts of guests are joined by guests, and by nobody who has an account', async () => {
  const [own, guest] = [await newcomer(holdfast), tus(api(holdfast))]
  const by = tus(own)
  const parts = [await part(guest, random.bytes(4 * MB)), await part(guest, random.bytes(3 * MB))]
  const mine = await part(by, random.bytes(2 * MB))
  expect(await final(by, parts)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
  expect(await final(by, [mine, ...parts])).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
  for (const [joining, paths] of [
    [guest, parts],
    [by, [mine]],
  ] as const) {
    const answer = await final(joining, paths)
    expect(answer.status).toBe(201)
    const path = answer.headers.get('location') ?? ''
    await eventually('it is joined', async () => (await joining.head(path)).headers.has('upload-offset'))
  }
  expect(await own.get('/api/v1/account')).toMatchObject({
    body: { data: { files_count: 1, storage_used: 2 * MB } },
  })
})

/** Joins two parts while one of them is deleted; whatever is told, a file that came of it is whole. */
async function joinWhileDeleting(round: number): Promise<'joined' | 'deleted'> {
  const contents = [random.bytes(200_000), random.bytes(200_000)]
  const paths = await Promise.all(contents.map((content) => part(client, content)))
  const joining = final(client, paths, { filename: `joined-${round}.bin` })
  // Also at a time at which the bytes are being read.
  await Bun.sleep(round % 6)
  const removed = await client.remove(paths[1] ?? '')
  const answer = await joining
  if (answer.status !== 201) {
    expect([404, 409]).toContain(answer.status)
    expect(removed.status).toBe(204)
    return 'deleted'
  }
  if (removed.status !== 204) expect(removed).toMatchObject(refusal('UPLOAD_LOCKED'))
  const path = answer.headers.get('location') ?? ''
  await eventually('it is joined', async () => (await client.head(path)).headers.has('upload-offset'))
  const whole = Buffer.concat(contents)
  expect(await client.look(path)).toMatchObject({
    body: { status: 'completed', size: whole.length, sha256: sha256(whole) },
  })
  const slug = answer.headers.get('holdfast-slug') ?? ''
  expect(await readBack(holdfast.url, slug)).toEqual({ size: whole.length, sha256: sha256(whole) })
  await caller.post('/file/delete', { identifiers: [slug] })
  return 'joined'
}

test('races: a part that is deleted while it is joined spoils no file', async () => {
  const outcomes: string[] = []
  for (let round = 0; round < 60; round += 4) {
    const some = [0, 1, 2, 3].map((more) => joinWhileDeleting(round + more))
    outcomes.push(...(await Promise.all(some)))
  }
  expect(outcomes).toContain('joined')
})

test('a part that is being joined is ended by nobody but the whole', async () => {
  const db = holdfast.database
  const joining = await client.start(1000, {}, { 'upload-concat': 'partial' })
  const whole = await client.start(1000)
  const rowOf = ({ slug }: { slug: string }) =>
    db
      .selectFrom('uploads')
      .selectAll()
      .where('slug', '=', slug as Slug)
      .executeTakeFirstOrThrow()
  const part = await rowOf(joining)
  const { id } = await rowOf(whole)
  await db.updateTable('uploads').set({ joined_into: id, part: 0 }).where('id', '=', part.id).execute()
  expect(await client.remove(joining.path)).toMatchObject({ ...refusal('UPLOAD_LOCKED'), status: 423 })
  await abandonUpload(db, part, 'expired', holdfast.clock.now())
  expect(await rowOf(joining)).toMatchObject({ ended_at: null })
  expect((await client.remove(whole.path)).status).toBe(204)
  expect(await rowOf(joining)).not.toMatchObject({ ended_at: null })
  expect((await client.remove(joining.path)).status).toBe(204)
})

test('a guest’s upload is gone on with by somebody who has signed in meanwhile', async () => {
  const content = random.bytes(3 * MB)
  const { path, slug } = await tus(api(holdfast)).start(content.length)
  const by = tus(await newcomer(holdfast))
  expect((await by.patch(path, 0, content)).status).toBe(204)
  expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
})

test('an upload that cannot be given up keeps no other from that', async () => {
  const [broken, well] = [await holdfast.addAccount(), await holdfast.addAccount()]
  const { path, slug } = await tus(api(holdfast, broken.apiKey)).start(MB)
  const other = await tus(api(holdfast, well.apiKey)).start(MB)
  const { database } = holdfast
  const setReserved = (bytes: number) =>
    sql`update accounts set storage_reserved = ${bytes} where id = ${broken.id}`.execute(database)
  const isOpen = async () => {
    const open = await database.selectFrom('uploads').select('slug').where('ended_at', 'is', null).execute()
    return open.some((row) => row.slug === slug)
  }
  await setReserved(0)
  holdfast.clock.advance(25 * 3_600_000)
  for (let run = 0; run < 6; run++) await holdfast.runJobs()
  expect((await tus(api(holdfast, well.apiKey)).head(other.path)).status).toBe(410)
  expect(await isOpen()).toBe(true)
  await setReserved(MB)
  await holdfast.runJobs()
  expect(await isOpen()).toBe(false)
  expect((await tus(api(holdfast, broken.apiKey)).head(path)).status).toBe(410)
})

test('parts that nobody joins expire with their room, and so does what waits for them', async () => {
  const by = tus(api(holdfast))
  await part(by, random.bytes(5 * MB))
  const db = holdfast.database
  const reserved = async () =>
    db
      .selectFrom('accounts')
      .select(wholeSum(db, 'storage_reserved').as('bytes'))
      .executeTakeFirstOrThrow()
      .then(({ bytes }) => bytes)
  const { path: awaited } = await by.start(3, {}, { 'upload-concat': 'partial' })
  const { path: empty } = await by.start(2, {}, { 'upload-concat': 'partial' })
  const { path: begun } = await by.start(2, {}, { 'upload-concat': 'partial' })
  const whole = (await final(by, [awaited, empty, begun])).headers.get('location') ?? ''
  expect(await reserved()).toBeGreaterThanOrEqual(5 * MB)
  const pass = async (hours: number) => {
    holdfast.clock.advance(hours * 3_600_000)
    await holdfast.runJobs()
  }
  // What waits for a part lives as long as bytes come to it, and so do the other parts.
  await by.patch(awaited, 0, random.bytes(1))
  await by.patch(begun, 0, random.bytes(1))
  await pass(20)
  await by.patch(awaited, 1, random.bytes(1))
  await pass(20)
  await pass(3)
  expect(await by.look(whole)).toMatchObject({ body: { status: 'uploading', received: 3 } })
  expect(await by.offset(empty)).toBe(0)
  await pass(25)
  for (const path of [whole, awaited, empty, begun]) expect((await by.head(path)).status).toBe(410)
  expect(await reserved()).toBe(0)
})
