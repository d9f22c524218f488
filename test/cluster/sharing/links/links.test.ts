/** Made links as their owners see them: made, listed, read, changed, revoked. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, timestamp } from '../../../../src/domain/clock.ts'
import type { FolderIdentifier, LinkSlug } from '../../../../src/domain/ids.ts'
import { changeLink, linkedFile, makeLink, revokeLink } from '../../../support/clients/links.ts'
import { api, deleteFile, GENEROUS, makeFolder, upload, visit } from '../../../support/clients/public.ts'
import { PASSWORD, signedIn } from '../../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

let host: TestHoldfast

beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
})

afterAll(async () => {
  await host.stop()
})

const data = z.object({ data: z.record(z.string(), z.unknown()) })
const list = z.object({
  data: z.array(z.object({ slug: z.string(), title: z.string() })),
  pagination: z.object({ total: z.number() }),
})

async function read(key: string, slug: string): Promise<Record<string, unknown>> {
  return data.parse((await api(host, key, 'GET', `/api/v1/links/${slug}`)).body).data
}

async function listed(key: string, query = ''): Promise<string[]> {
  const { body } = await api(host, key, 'GET', `/api/v1/links${query}`)
  return list.parse(body).data.map(({ slug }) => slug)
}

async function withThings() {
  const account = await host.addAccount()
  const key = account.apiKey
  const folder = await makeFolder(host, key, { name: 'Photos', public: 0 })
  await api(host, key, 'POST', '/api/v1/bin', { folders: [await makeFolder(host, key)] })
  const file = await upload(host, { key, folder, name: 'one.txt' })
  return { key, folder, file, username: account.username }
}

const make = (key: string, fields: object) => api(host, key, 'POST', '/api/v1/links', fields)

test('a link tells what it opens, and that folder privacy does not matter', async () => {
  const { key, folder, file } = await withThings()
  const ends = timestamp(host.clock.now() + DAY)
  const { status, body } = await make(key, {
    files: [file.uuid, file.slug],
    folders: [folder],
    name: '  The weekend ',
    message: 'Look:\r\n\u0007here',
    password: 'sesame',
    ends_at: ends,
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    success: true,
    message: expect.stringContaining('whatever "public" and folder passwords say'),
    data: {
      title: 'The weekend',
      name: 'The weekend',
      message: 'Look:\nhere',
      has_password: true,
      ends_at: ends,
      state: 'live',
      files: 1,
      folders: 1,
      targets: { folders: [{ id: folder, name: 'Photos' }], files: [{ uuid: file.uuid, name: 'one.txt' }] },
    },
  })
  expect(JSON.stringify(body)).not.toContain('sesame')
})

test('any number of links lead to the same thing, and each has an address that cannot be guessed', async () => {
  const { key, file } = await withThings()
  const slugs = [
    await makeLink(host, key, { files: [file.slug] }),
    await makeLink(host, key, { files: [file.slug] }),
  ]
  expect(new Set(slugs).size).toBe(2)
  for (const slug of slugs) expect(slug).toMatch(/^[a-z0-9]{16}$/)
  expect((await read(key, slugs[0] ?? '')).url).toBe(`${host.url}/l/${slugs[0]}`)
})

test('an own slug is taken once in the whole server, also by one that looks like it', async () => {
  const { key, file } = await withThings()
  const { key: other, file: others } = await withThings()
  expect(await makeLink(host, key, { files: [file.slug], slug: 'summer-2010' })).toBe('summer-2010')
  for (const slug of ['summer-2010', 'surnmer-2010', 'summer2olo', 'summer-2o1o']) {
    const { status, body } = await make(other, { files: [others.slug], slug })
    expect([status, body]).toMatchObject([409, { error: 'DUPLICATE_NAME' }])
  }
  await revokeLink(host, key, 'summer-2010')
  expect((await make(other, { files: [others.slug], slug: 'summer-2010' })).status).toBe(409)
})

test.each([
  [{ slug: 'Not A Slug' }, 'INVALID_NAME', '3 to 64'],
  [{ slug: 'admin' }, 'INVALID_NAME', 'reserved'],
  [{ downloads: 3 }, 'UNKNOWN_FIELD', 'downloads'],
  [{ ends_at: '2001-01-01T00:00:00Z' }, 'INVALID_REQUEST', 'future'],
  [{ ends_at: 'tomorrow' }, 'INVALID_REQUEST', 'ends_at'],
  [{ name: 'x'.repeat(101) }, 'INVALID_REQUEST', 'name'],
  [{ message: 'x'.repeat(2001) }, 'INVALID_REQUEST', 'message'],
  [{ password: 'x'.repeat(129) }, 'INVALID_REQUEST', 'password'],
  [{ password: '\ud801\udbff' }, 'INVALID_REQUEST', 'password'],
  [{ password: '' }, 'INVALID_REQUEST', 'leave it out'],
  [{ files: [] }, 'INVALID_REQUEST', 'files'],
  [{ files: Array(201).fill('Zz0000000000') }, 'INVALID_REQUEST', '200'],
])('%j is refused with %s', async (fields, error, part) => {
  const { key, file } = await withThings()
  const { status, body } = await make(key, { files: [file.slug], ...fields })
  expect([status, body]).toMatchObject([400, { error, message: expect.stringContaining(part) }])
  expect(await listed(key)).toEqual([])
})

test('a list has the newest first, by pages, and those for one file or folder', async () => {
  const { key, folder, file } = await withThings()
  const toFile = await makeLink(host, key, { files: [file.slug] })
  const toFolder = await makeLink(host, key, { folders: [folder] })
  const toBoth = await makeLink(host, key, { files: [file.slug], folders: [folder], name: 'both' })
  expect(await listed(key)).toEqual([toBoth, toFolder, toFile])
  expect(await listed(key, '?per_page=1&page=2')).toEqual([toFolder])
  expect(await listed(key, `?file=${file.slug}`)).toEqual([toBoth, toFile])
  expect(await listed(key, `?folder=${folder}`)).toEqual([toBoth, toFolder])
  const { body } = await api(host, key, 'GET', '/api/v1/links')
  expect(list.parse(body)).toMatchObject({
    data: [{ title: 'both' }, { title: 'Photos' }, { title: 'one.txt' }],
    pagination: { total: 3 },
  })
})

test('a link to a file, a folder or both opens at every node, and at none once it is revoked', async () => {
  const { key, folder, file } = await withThings()
  const loose = await upload(host, { key, name: 'loose.txt' })
  const slugs = [
    await makeLink(host, key, { files: [file.slug] }),
    await makeLink(host, key, { folders: [folder] }),
    await makeLink(host, key, { files: [loose.slug], folders: [folder] }),
  ]
  const pages = await Promise.all(slugs.map((slug) => linkedFile(host, slug, file)))
  const paths = [...slugs.map((slug) => `/l/${slug}`), ...pages]
  const zips = slugs.slice(1).map((slug) => `/l/${slug}?download=zip`)
  for (const path of [...paths, ...zips]) {
    const response = await visit(host, path)
    expect([path, response.status]).toEqual([path, 200])
    await response.bytes()
  }
  const location = (await visit(host, `${paths[0]}?download=1`)).headers.get('location') ?? ''
  expect((await visit(host, location)).status).toBe(200)
  for (const slug of slugs) await revokeLink(host, key, slug)
  for (const path of [...paths, ...zips, location]) expect((await visit(host, path)).status).toBe(404)
})

describe('the terms', () => {
  test('are changed one by one, and taken away by null', async () => {
    const { key, file } = await withThings()
    const slug = await makeLink(host, key, { files: [file.slug], name: 'before', message: 'hello' })
    const ends = timestamp(host.clock.now() + 7 * DAY)
    await changeLink(host, key, slug, { password: 'sesame', ends_at: ends })
    const before = await read(key, slug)
    expect(before).toMatchObject({ name: 'before', message: 'hello', has_password: true, ends_at: ends })
    const { status } = await api(host, key, 'PATCH', `/api/v1/links/${slug}`, before)
    expect(status).toBe(200)
    await changeLink(host, key, slug, { name: null, message: '', password: null, ends_at: null })
    expect(await read(key, slug)).toMatchObject({
      name: null,
      message: null,
      has_password: false,
      ends_at: null,
      title: 'one.txt',
    })
  })

  test('that a link does not have are refused', async () => {
    const { key, file } = await withThings()
    const slug = await makeLink(host, key, { files: [file.slug] })
    const { status, body } = await api(host, key, 'PATCH', `/api/v1/links/${slug}`, { colour: 'teal' })
    expect([status, body]).toMatchObject([400, { error: 'UNKNOWN_FIELD' }])
  })

  test('show when a link has ended, and a later end opens it again', async () => {
    const { key, file } = await withThings()
    const slug = await makeLink(host, key, { files: [file.slug], ends_at: timestamp(host.clock.now() + DAY) })
    host.clock.advance(DAY)
    expect(await read(key, slug)).toMatchObject({ state: 'ended' })
    await changeLink(host, key, slug, { ends_at: timestamp(host.clock.now() + DAY) })
    expect(await read(key, slug)).toMatchObject({ state: 'live' })
  })
})

test('a revoked link stays in the list as revoked, cannot be changed, and is forgotten after 90 days', async () => {
  const { key, file } = await withThings()
  const slug = await makeLink(host, key, { files: [file.slug] })
  await revokeLink(host, key, slug)
  await revokeLink(host, key, slug)
  expect(await read(key, slug)).toMatchObject({ state: 'revoked', revoked_at: expect.any(String) })
  const { status, body } = await api(host, key, 'PATCH', `/api/v1/links/${slug}`, { name: 'again' })
  expect([status, body]).toMatchObject([404, { error: 'LINK_NOT_FOUND' }])
  host.clock.advance(89 * DAY)
  await host.runJobs()
  expect(await listed(key)).toEqual([slug])
  host.clock.advance(2 * DAY)
  await host.runJobs()
  expect(await listed(key)).toEqual([])
})

test('what is deleted or put into the bin leaves the link by itself, and comes back with it', async () => {
  const { key, folder, file } = await withThings()
  const loose = await upload(host, { key, name: 'loose.txt' })
  const slug = await makeLink(host, key, { files: [file.slug, loose.slug], folders: [folder] })
  const only = await makeLink(host, key, { files: [loose.slug] })
  await deleteFile(host, key, loose.slug)
  expect(await read(key, only)).toMatchObject({ state: 'empty', files: 1, title: '' })
  expect(await read(key, slug)).toMatchObject({
    state: 'live',
    files: 2,
    targets: { folders: [{ id: folder }], files: [{ name: 'one.txt' }] },
  })
  const binned = await api(host, key, 'POST', '/api/v1/bin', { folders: [folder] })
  expect(await read(key, slug)).toMatchObject({ targets: { folders: [], files: [] } })
  const results = z.object({ data: z.object({ results: z.tuple([z.object({ entry: z.number() })]) }) })
  const { entry } = results.parse(binned.body).data.results[0]
  await api(host, key, 'POST', '/api/v1/bin/restore', { entries: [entry] })
  await host.runJobs()
  expect(await read(key, slug)).toMatchObject({
    targets: { folders: [{ id: folder }], files: [{ name: 'one.txt' }] },
  })
})

describe('a key that is kept to one folder', () => {
  test('sees and makes only links to what is in it', async () => {
    const { key, folder, file, username } = await withThings()
    const loose = await upload(host, { key, name: 'loose.txt' })
    const inner = await makeFolder(host, key, { parent: folder })
    const bound = await host.addKey(username, { folder: folder as FolderIdentifier })
    const inside = await makeLink(host, key, { files: [file.slug], folders: [inner, folder] })
    const across = await makeLink(host, key, { files: [file.slug, loose.slug] })
    expect(await listed(bound)).toEqual([inside])
    for (const method of ['GET', 'DELETE']) {
      const { status } = await api(host, bound, method, `/api/v1/links/${across}`)
      expect(status).toBe(404)
    }
    const { status, body } = await make(bound, { files: [file.slug, loose.slug] })
    expect([status, body]).toMatchObject([404, { error: 'FILE_NOT_FOUND' }])
    const own = await makeLink(host, bound, { folders: [folder] })
    expect(await listed(key)).toEqual([own, across, inside])
  })

  test.each([
    [['read'], 'POST', '/api/v1/links'],
    [['read'], 'DELETE', '/api/v1/links/abcdef'],
    [['upload'], 'GET', '/api/v1/links'],
  ] as const)('with the scopes %j may not %s %s', async (scopes, method, path) => {
    const { username } = await withThings()
    const key = await host.addKey(username, { scopes: [...scopes] })
    const { status, body } = await api(host, key, method, path, method === 'POST' ? {} : undefined)
    expect([status, body]).toMatchObject([403, { error: 'SCOPE_MISSING' }])
  })
})

test('a deleted account takes its links with it', async () => {
  const { key, file, username } = await withThings()
  const slug = await makeLink(host, key, { files: [file.slug] })
  const person = await signedIn(host, username)
  const gone = await person.send('POST', '/api/v1/account/delete', { username, password: PASSWORD })
  expect(gone.status).toBe(200)
  // Its files first, then what they lay in, then what belonged to it.
  for (let round = 0; round < 5; round++) {
    host.clock.advance(DAY)
    await host.runJobs()
  }
  const rows = await host.database
    .selectFrom('links')
    .select('id')
    .where('slug', '=', slug as LinkSlug)
    .execute()
  expect(rows).toEqual([])
})
