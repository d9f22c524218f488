/** Links that take uploads into a folder: what they take, what they never show, and what contributors may do. */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { HOUR, timestamp } from '../../../../src/domain/clock.ts'
import { type Answer, api as client, refusal } from '../../../support/clients/api.ts'
import { intoBin, restore } from '../../../support/clients/bin.ts'
import { changeLink, type LinkFields, makeLink, revokeLink } from '../../../support/clients/links.ts'
import { api, makeFolder, randomBytes, upload, visit } from '../../../support/clients/public.ts'
import { metadata, TUS, tus } from '../../../support/clients/tus.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw } from '../../../support/network/raw-connection.ts'
import { atNode, onCluster } from '../../../support/servers/holdfast.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const guest = client(host)
const uploads = tus(guest)
const owner = client(host, key)
const SECRET = 'payroll-of-everybody.txt'
const LARGE = new Uint8Array(512 * 1024)
const BYTES = new TextEncoder().encode('ten bytes.')

const PAGE = ['', '?view=list']

interface Asked {
  readonly folder: string
  readonly link: string
}

async function asked(takes: LinkFields['uploads'] = {}, fields: LinkFields = {}): Promise<Asked> {
  const folder = await makeFolder(host, key)
  await upload(host, { key, folder, name: SECRET })
  return { folder, link: await makeLink(host, key, { folders: [folder], uploads: takes, ...fields }) }
}

const json = { accept: 'application/json' }

function put(
  link: string,
  name: string,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream = BYTES,
  headers = {},
): Promise<Answer> {
  return guest.send(`/l/${link}/${name}`, { method: 'PUT', body, headers: { ...json, ...headers } })
}

function form(link: string, name: string, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const body = new FormData()
  for (const [field, value] of Object.entries(fields)) body.append(field, value)
  body.append('file', new File([BYTES], name))
  return guest.send(`/api/v1/links/${link}/upload`, { method: 'POST', body })
}

function start(link: string, size: number, about: Readonly<Record<string, string>>): Promise<Answer> {
  const headers = { ...TUS, 'upload-length': String(size), 'upload-metadata': metadata(about) }
  return guest.send(`/api/v1/links/${link}/uploads`, { method: 'POST', headers })
}

const placeOf = ({ headers }: Answer) => headers.get('location') ?? ''

async function resumable(link: string, about: Readonly<Record<string, string>>): Promise<Answer> {
  const begun = await start(link, BYTES.length, about)
  return begun.status === 201 ? uploads.patch(placeOf(begun), 0, BYTES) : begun
}

const file = z.object({ name: z.string() })
const page = z.object({ data: z.array(file) })
const state = z.object({ data: z.object({ state: z.string(), uploads: z.record(z.string(), z.unknown()) }) })

async function namesIn(folder: string): Promise<string[]> {
  const { body } = await owner.get(`/api/v1/folder/${folder}/files`)
  return page
    .parse(body)
    .data.map(({ name }) => name)
    .sort()
}

const stateOf = async (link: string) => state.parse((await owner.get(`/api/v1/links/${link}`)).body).data

const receiptIn = ({ headers }: Answer) => headers.get('holdfast-receipt') ?? ''
const withdraw = (receipt: string) =>
  guest.send(`/api/v1/receipt/${encodeURIComponent(receipt)}`, { method: 'DELETE' })

test('a file comes by PUT, form and tus, is the owner’s, and nobody is told where it is', async () => {
  const { folder, link } = await asked()
  const answers = [await put(link, 'raw.txt'), await form(link, 'form.txt')]
  const about = { filename: 'tus.txt', relativePath: 'Trip/Day 1/tus.txt' }
  const begun = await start(link, BYTES.length, about)
  const place = placeOf(begun)
  answers.push(begun, await uploads.look(place), await uploads.head(place))
  answers.push(await uploads.patch(place, 0, BYTES), await uploads.look(place))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 200, 200, 204, 200])
  const told = answers.map(({ body, headers }) => JSON.stringify([body, ...headers])).join()
  expect(await namesIn(folder)).toEqual(['form.txt', SECRET, 'raw.txt'].sort())
  const rows = await host.database
    .selectFrom('files')
    .innerJoin('contributions', 'contributions.file_uuid', 'files.uuid')
    .select(['files.uuid', 'files.slug', 'files.account_id'])
    .execute()
  expect(rows).toHaveLength(3)
  for (const { uuid, slug, account_id } of rows) {
    expect(account_id).not.toBe(0)
    expect(told).not.toContain(uuid)
    expect(told).not.toContain(slug)
  }
  const receipts = answers.map(receiptIn).map((text) => Buffer.from(text.split('.')[0] ?? '', 'base64url'))
  for (const { uuid } of rows) expect(Buffer.concat(receipts).toString()).not.toContain(uuid)
  const { body } = await owner.get(`/api/v1/links/${link}/contributions`)
  expect(body).toMatchObject({ data: [{ name: 'tus.txt' }, { name: 'form.txt' }, { name: 'raw.txt' }] })
  const { body: below } = await owner.get(`/api/v1/folder/${folder}/folders`)
  expect(below).toMatchObject({ data: [{ name: 'Trip' }] })
})

test('nothing of the folder shows, whatever is asked for below the link', async () => {
  const { folder, link } = await asked({}, { name: 'Hand in here' })
  expect(await put(link, 'only-once.txt')).toMatchObject({ status: 200 })
  const { id, uuid } = await host.database
    .selectFrom('files')
    .where('name', '=', 'only-once.txt')
    .select(['uuid', 'folder_id as id'])
    .executeTakeFirstOrThrow()
  const paths = [
    '',
    '?download=1',
    '?download=zip',
    '?view=list',
    `/${id}`,
    `/${id}?download=zip`,
    `/${uuid}`,
  ]
  paths.push(`/${uuid}?download=1`, `/${uuid}/thumbnail`, `/${uuid}/report`)
  for (const path of paths) {
    const answer = await visit(host, `/l/${link}${path}`)
    const text = await answer.text()
    // Only the page that asks is there.
    expect([path, answer.status]).toEqual([path, PAGE.includes(path) ? 200 : 404])
    for (const secret of [SECRET, 'only-once.txt', uuid, folder]) expect(text).not.toContain(secret)
  }
})

describe('limits', () => {
  test('of number, size, kind and time are checked before bytes are taken', async () => {
    const ends = timestamp(host.clock.now() + HOUR)
    const { folder, link } = await asked(
      { max_files: 2, max_file_size: 12, max_size: 19, types: ['.PDF', 'image/*'] },
      { ends_at: ends },
    )
    const none = 'x'.repeat(13)
    expect(await put(link, 'a.exe')).toMatchObject(refusal('UNSUPPORTED_MEDIA_TYPE'))
    expect(await put(link, 'a.pdf', none)).toMatchObject(refusal('FILE_TOO_LARGE'))
    expect(await start(link, 13, { filename: 'a.png' })).toMatchObject(refusal('FILE_TOO_LARGE'))
    expect(await start(link, 1e18, { filename: 'a.png' })).toMatchObject(refusal('FILE_TOO_LARGE'))
    expect(await put(link, 'a.pdf')).toMatchObject({ status: 200 })
    // As much as one file may have, and more than the link still takes.
    expect(await form(link, 'b.jpg')).toMatchObject(refusal('FILE_TOO_LARGE'))
    expect(await start(link, 10, { filename: 'b.jpg' })).toMatchObject(refusal('FILE_TOO_LARGE'))
    expect((await put(link, 'b.jpg')).body).toMatchObject({ message: expect.stringContaining(' 9 B ') })
    expect(await put(link, 'b.jpg', 'nine byte')).toMatchObject({ status: 200 })
    expect((await stateOf(link)).state).toBe('used_up')
    await changeLink(host, key, link, { uploads: { max_size: null } })
    expect(await resumable(link, { filename: 'c.gif' })).toMatchObject(refusal('LINK_USED_UP'))
    await changeLink(host, key, link, { uploads: { max_files: 3 } })
    const late = await start(link, BYTES.length, { filename: 'c.gif' })
    host.clock.advance(HOUR)
    expect(await put(link, 'd.pdf')).toMatchObject(refusal('LINK_ENDED'))
    // What was begun in time may be finished.
    expect(await uploads.patch(placeOf(late), 0, BYTES)).toMatchObject({ status: 204 })
    expect(await namesIn(folder)).toEqual(['a.pdf', 'b.jpg', 'c.gif', SECRET])
  })

  test('cannot be passed by lengths that are not told, or not true', async () => {
    const { folder, link } = await asked({ max_file_size: 1000 })
    const endless = new ReadableStream({
      pull(controller) {
        controller.enqueue(LARGE)
      },
    })
    expect(await put(link, 'a.txt', endless)).toMatchObject(refusal('INVALID_REQUEST'))
    const defer = { ...TUS, 'upload-defer-length': '1', 'upload-metadata': metadata({ filename: 'a' }) }
    const deferred = await guest.send(`/api/v1/links/${link}/uploads`, { method: 'POST', headers: defer })
    expect(deferred).toMatchObject(refusal('INVALID_REQUEST'))
    const part = { ...TUS, 'upload-length': '10', 'upload-concat': 'partial' }
    const partial = await guest.send(`/api/v1/links/${link}/uploads`, { method: 'POST', headers: part })
    expect(partial).toMatchObject(refusal('INVALID_REQUEST'))
    const short = placeOf(await start(link, 4, { filename: 'short.txt' }))
    expect((await uploads.patch(short, 0, BYTES)).status).toBeGreaterThanOrEqual(400)
    expect(await namesIn(folder)).toEqual([SECRET])
  })

  test('hold for any number of senders at once, over nodes too, and a failed one gives its place back', async () => {
    const { folder, link } = await asked({ max_files: 3, max_size: 35 })
    const sending = Array.from({ length: 24 }, (_, n) =>
      n % 3 === 0
        ? put(link, `${n}.txt`)
        : n % 3 === 1
          ? form(link, `${n}.txt`)
          : resumable(link, { filename: `${n}` }),
    )
    const answers = await Promise.all(sending)
    const taken = answers.filter(({ status }) => status < 300)
    expect(taken).toHaveLength(3)
    for (const answer of answers) {
      if (answer.status >= 300) expect(answer).toMatchObject(refusal('LINK_USED_UP'))
    }
    expect(await namesIn(folder)).toHaveLength(4)
    expect(
      await withdraw(receiptIn(taken[0] ?? { status: 0, body: null, headers: new Headers() })),
    ).toMatchObject({ status: 200 })
    const begun = await start(link, 10, { filename: 'given up' })
    await uploads.patch(placeOf(begun), 0, BYTES.slice(0, 1))
    expect(await put(link, 'full.txt')).toMatchObject(refusal('LINK_USED_UP'))
    const page = await (await visit(host, `/l/${link}`)).text()
    expect(page).toContain('This link takes no more files.')
    expect(page).not.toContain('Up to ')
    await uploads.remove(placeOf(begun))
    expect(await put(link, 'last.txt')).toMatchObject({ status: 200 })
  })

  test('are not used up by what is announced, and what comes after all has to fit', async () => {
    const { link } = await asked({ max_files: 3, max_size: 40 })
    const idle = [1, 2, 3].map((n) => start(link, n === 1 ? 40 : 10, { filename: `${n}.txt` }))
    const [large, ...begun] = (await Promise.all(idle)).map(placeOf)
    const silent = await openRaw(atNode(host).url)
    const { host: at } = new URL(host.url)
    await silent.send(`PUT /l/${link}/silent.txt HTTP/1.1\r\nHost: ${at}\r\nContent-Length: 40\r\n\r\n`)
    expect(await stateOf(link)).toMatchObject({ state: 'live', uploads: { received_files: 0 } })
    expect(await put(link, 'honest.txt')).toMatchObject({ status: 200 })
    // 30 of the 40 bytes are left, and two of the three files.
    const late = await uploads.patch(large ?? '', 0, randomBytes(31))
    expect(late).toMatchObject(refusal('FILE_TOO_LARGE'))
    expect(await uploads.patch(begun[0] ?? '', 0, BYTES.slice(0, 1))).toMatchObject({ status: 204 })
    const counted = { received_files: 1, received_size: 10 }
    expect(await stateOf(link)).toMatchObject({ state: 'live', uploads: counted })
    expect(await uploads.patch(begun[1] ?? '', 0, BYTES)).toMatchObject({ status: 204 })
    expect(await uploads.patch(large ?? '', 0, BYTES)).toMatchObject(refusal('LINK_USED_UP'))
    expect(await uploads.patch(begun[0] ?? '', 1, BYTES.slice(1))).toMatchObject({ status: 204 })
    expect(await stateOf(link)).toMatchObject({ state: 'used_up', uploads: { received_files: 3 } })
    silent.destroy()
  })

  test('of the owner’s storage are not told to contributors', async () => {
    const poor = await host.addAccount('poor')
    const folder = await makeFolder(host, poor.apiKey)
    const link = await makeLink(host, poor.apiKey, { folders: [folder], uploads: {} })
    await host.database.updateTable('accounts').set({ quota: 12 }).where('username', '=', 'poor').execute()
    const answers = [await put(link, 'a', randomBytes(13)), await start(link, 13, { filename: 'a' })]
    for (const answer of answers) {
      expect(answer).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
      expect(JSON.stringify(answer.body)).not.toContain('12')
    }
    expect(await put(link, 'a')).toMatchObject({ status: 200 })
  })
})

test('who asks for much and sends nothing keeps no storage of the owner’s', async () => {
  const small = await host.addAccount('small')
  await host.database.updateTable('accounts').set({ quota: 100 }).where('username', '=', 'small').execute()
  const folder = await makeFolder(host, small.apiKey)
  const link = await makeLink(host, small.apiKey, { folders: [folder], uploads: {} })
  const begun = await start(link, 95, { filename: 'a.txt' })
  expect(begun.status).toBe(201)
  expect(await put(link, 'b.txt')).toMatchObject({ status: 200 })
  const late = await uploads.patch(placeOf(begun), 0, randomBytes(95))
  expect(late).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
  expect(JSON.stringify(late.body)).not.toContain('100')
})

// On PostgreSQL making ten thousand folders takes minutes.
test.skipIf(onCluster)('folders that nothing came into have an end too', async () => {
  const { link } = await asked()
  const deep = (at: number) =>
    `${Array.from({ length: 200 }, (_, level) => `${at}-${level}`).join('/')}/a.txt`
  let taken = 0
  for (let at = 0; at < 60; at++) {
    const begun = await start(link, 1, { filename: 'a.txt', relativePath: deep(at) })
    if (begun.status !== 201) {
      expect(begun).toMatchObject(refusal('LINK_USED_UP'))
      break
    }
    taken += 1
    await uploads.remove(placeOf(begun))
  }
  expect(taken).toBe(50)
  expect(await put(link, 'without.txt')).toMatchObject({ status: 200 })
})

test('names of files and folders lead nowhere else', async () => {
  const { folder, link } = await asked()
  for (const path of ['../x/a.txt', 'a/../../b/a.txt', './a/b.txt', 'a\\b/../c.txt']) {
    expect(await start(link, 1, { filename: 'a.txt', relativePath: path })).toMatchObject(
      refusal('INVALID_NAME'),
    )
  }
  expect(await put(link, encodeURIComponent('../../evil.txt'))).toMatchObject({ status: 200 })
  const unnamed = { method: 'PUT', body: '%PDF-1.7\n' }
  const told = await (await visit(host, `/l/${link}?sender=Ann`, unnamed)).text()
  expect(told).toMatch(/^The address had no name for the file.*\nReceipt: /)
  expect(await namesIn(folder)).toEqual(['evil.txt', SECRET, 'file.pdf'].sort())
  const other = await makeFolder(host, key)
  const elsewhere = await start(link, 1, { filename: 'a.txt', folder: other })
  expect(elsewhere).toMatchObject(refusal('INVALID_REQUEST'))
  const keyed = await put(link, 'keyed.txt', BYTES, { 'x-folder-id': other, authorization: `Bearer ${key}` })
  expect(keyed).toMatchObject({ status: 200 })
  expect(await namesIn(other)).toEqual([])
})

async function reserved(): Promise<number> {
  const accounts = host.database.selectFrom('accounts').select('storage_reserved')
  return (await accounts.where('username', '=', 'owner').executeTakeFirstOrThrow()).storage_reserved
}

test('a revoked link stops what is under way, at every node, and frees what was reserved', async () => {
  const { folder, link } = await asked()
  const before = await reserved()
  const begun = await start(link, 20, { filename: 'half.txt' })
  await uploads.patch(placeOf(begun), 0, BYTES)
  const raw = await openRaw(atNode(host).url)
  // Smaller bodies reserve nothing.
  const large = 2 * 1024 * 1024
  await raw.send(
    `PUT /l/${link}/slow.txt HTTP/1.1\r\nHost: ${new URL(host.url).host}\r\nContent-Length: ${large}\r\n\r\n`,
  )
  await raw.send(BYTES)
  await eventually('the bytes are on their way', async () => (await reserved()) === before + 20 + large)
  await revokeLink(host, key, link)
  await raw.send('x'.repeat(large - BYTES.length))
  expect(await raw.answer()).toMatchObject(refusal('LINK_NOT_FOUND'))
  raw.destroy()
  expect(await uploads.patch(placeOf(begun), 10, BYTES)).toMatchObject(refusal('UPLOAD_GONE'))
  expect(await namesIn(folder)).toEqual([SECRET])
  await eventually('nothing is reserved', async () => (await reserved()) === before)
})

const sentUuid = (name: string) =>
  host.database
    .selectFrom('files')
    .select(['uuid', 'slug'])
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
const shownBy = (receipt: string) => guest.get(`/api/v1/receipt/${receipt}`)

test('what is under way waits while the folder of its link is in the bin', async () => {
  const { folder, link } = await asked()
  const path = placeOf(await start(link, BYTES.length, { filename: 'a.txt' }))
  await uploads.patch(path, 0, BYTES.slice(0, 1))
  const entries = await intoBin(owner, { folders: [folder] })
  expect(await uploads.patch(path, 1, BYTES.slice(1))).toMatchObject(refusal('LINK_NOT_FOUND'))
  expect(await uploads.offset(path)).toBe(1)
  await restore(owner, entries)
  expect(await uploads.patch(path, 1, BYTES.slice(1))).toMatchObject({ status: 204 })
  expect(await namesIn(folder)).toEqual([SECRET, 'a.txt'].sort())
})

test('a receipt shows its contributor what they sent, whatever its owner does with it', async () => {
  const { folder, link } = await asked({ fields: { sender: 'required' } }, { name: 'Bills' })
  const mine = receiptIn(await put(link, 'bill.txt?sender=Ann'))
  const began = await start(link, 20, { filename: 'film.mkv', sender: 'Ben' })
  await uploads.patch(placeOf(began), 0, BYTES)
  const { uuid, slug } = await sentUuid('bill.txt')
  const sent = {
    kind: 'contribution',
    name: 'bill.txt',
    status: 'completed',
    received: 10,
    size: 10,
    sender: 'Ann',
  }
  const live = { ...sent, can_withdraw: true, link: { url: `${host.url}/l/${link}`, name: 'Bills' } }
  expect(await shownBy(mine)).toMatchObject({ status: 200, body: { data: live } })
  expect(await shownBy(receiptIn(began))).toMatchObject({
    body: { data: { name: 'film.mkv', status: 'uploading', received: 10, size: 20, sha256: null } },
  })
  await owner.patch(`/api/v1/file/${uuid}`, { name: 'refused.txt' })
  await owner.post('/api/v1/file/move', { file: uuid, folder: await makeFolder(host, key) })
  const shown = await shownBy(mine)
  expect(shown).toMatchObject({ body: { data: { ...sent, can_withdraw: false } } })
  const pages = await Promise.all([visit(host, `/r/${mine}`), visit(host, `/r/${receiptIn(began)}`)])
  expect(pages.map(({ status }) => status)).toEqual([200, 200])
  const said = [JSON.stringify(shown.body), ...(await Promise.all(pages.map((each) => each.text())))].join()
  for (const secret of [uuid, slug, folder, 'refused.txt', SECRET]) expect(said).not.toContain(secret)
  expect(await guest.patch(`/api/v1/receipt/${mine}`, { name: 'x' })).toMatchObject(refusal('NOT_FOUND'))
  await revokeLink(host, key, link)
  expect(await shownBy(mine)).toMatchObject({ body: { data: { ...sent, link: null, can_withdraw: false } } })
  await owner.post('/file/delete', { identifiers: [uuid] })
  expect(await shownBy(mine)).toMatchObject(refusal('NOT_FOUND'))
})

test('a contributor withdraws only their own, and only while the link is in force', async () => {
  const { folder, link } = await asked()
  const [mine, other, moved] = [
    await put(link, 'mine.txt'),
    await form(link, 'other.txt'),
    await put(link, 'moved.txt'),
  ]
  expect(await withdraw(receiptIn(mine))).toMatchObject({ status: 200 })
  expect(await withdraw(receiptIn(mine))).toMatchObject(refusal('NOT_FOUND'))
  expect(await withdraw(`${receiptIn(other)}x`)).toMatchObject(refusal('NOT_FOUND'))
  const { uuid } = await sentUuid('moved.txt')
  const away = await makeFolder(host, key)
  await api(host, key, 'POST', '/api/v1/file/move', { file: uuid, folder: away })
  expect(await withdraw(receiptIn(moved))).toMatchObject(refusal('NOT_FOUND'))
  const last = await put(link, 'last.txt')
  const byPage = await fetch(`${host.url}/r/${receiptIn(last)}`, {
    method: 'POST',
    body: new URLSearchParams({ action: 'delete' }),
  })
  expect(await byPage.text()).toContain('The file is withdrawn')
  await revokeLink(host, key, link)
  expect(await withdraw(receiptIn(other))).toMatchObject(refusal('LINK_ENDED'))
  expect(await namesIn(folder)).toEqual(['other.txt', SECRET])
  const ending = await asked({}, { ends_at: timestamp(host.clock.now() + HOUR) })
  const kept = await put(ending.link, 'kept.txt')
  host.clock.advance(HOUR)
  expect(await withdraw(receiptIn(kept))).toMatchObject(refusal('LINK_ENDED'))
})

test('an Idempotency-Key and an invalid key are refused by a link, however the file comes', async () => {
  const { folder, link } = await asked()
  const stranger = client(host, 'hf_bad')
  const body = new FormData()
  body.append('file', new File([BYTES], 'a.txt'))
  for (const [path, init] of [
    [`/l/${link}/a.txt`, { method: 'PUT', body: BYTES }],
    [`/l/${link}`, { method: 'PUT', body: BYTES }],
    [`/api/v1/links/${link}/upload`, { method: 'POST', body }],
    [`/api/v1/links/${link}/uploads`, { method: 'POST', headers: { ...TUS, 'upload-length': '10' } }],
  ] as const) {
    expect(await stranger.send(path, init)).toMatchObject(refusal('INVALID_API_KEY'))
  }
  expect(await namesIn(folder)).toEqual([SECRET])
  const keyed = { 'idempotency-key': 'abcdefghijklmnop' }
  expect(await put(link, 'a.txt', BYTES, keyed)).toMatchObject(refusal('INVALID_REQUEST'))
  const headers = {
    ...TUS,
    ...keyed,
    'upload-length': '10',
    'upload-metadata': metadata({ filename: 'a.txt' }),
  }
  const begun = await guest.send(`/api/v1/links/${link}/uploads`, { method: 'POST', headers })
  expect(begun).toMatchObject(refusal('INVALID_REQUEST'))
})

test('what a link asks for is needed where it says so, and only the owner sees it', async () => {
  const fields = { sender: 'required', address: 'optional', reference: 'optional' }
  const { link } = await asked({ fields })
  expect(await put(link, 'a.txt')).toMatchObject(refusal('INVALID_REQUEST'))
  expect((await start(link, 1, { filename: 'a.txt' })).body).toMatchObject({
    message: expect.stringContaining('in Upload-Metadata'),
  })
  expect(await put(link, 'a.txt?sender=Ann%20Lee&address=a@example.org')).toMatchObject({ status: 200 })
  expect(await put(link, 'a.txt?sender=Ann%20Lee&address=a%20b')).toMatchObject({ status: 400 })
  expect(await form(link, 'b.txt', { sender: 'Ben', reference: '42' })).toMatchObject({ status: 200 })
  expect(await resumable(link, { filename: 'c.txt', sender: 'Cy\u0007\u202e\u2028' })).toMatchObject({
    status: 204,
  })
  const late = new FormData()
  late.append('file', new File([BYTES], 'd.txt'))
  late.append('sender', 'Dee')
  const lax = await asked({ fields: { sender: 'optional' } })
  const behind = await guest.send(`/api/v1/links/${lax.link}/upload`, { method: 'POST', body: late })
  expect(behind).toMatchObject(refusal('INVALID_REQUEST'))
  expect(behind.body).toMatchObject({ message: expect.stringContaining('in front of the file') })
  expect(await namesIn(lax.folder)).toEqual([SECRET])
  const unseen = await put(link, 'a.txt?sender=%E2%80%AE%E2%80%8F')
  expect(unseen).toMatchObject(refusal('INVALID_REQUEST'))
  const { body } = await owner.get(`/api/v1/links/${link}/contributions?per_page=2`)
  expect(body).toMatchObject({
    data: [
      { name: 'c.txt', sender: 'Cy', address: null, reference: null, size: 10 },
      { name: 'b.txt', sender: 'Ben', reference: '42' },
    ],
    pagination: { total: 3 },
  })
  const stranger = await host.addAccount()
  const foreign = await client(host, stranger.apiKey).get(`/api/v1/links/${link}/contributions`)
  expect(foreign).toMatchObject(refusal('LINK_NOT_FOUND'))
})

test('the page of a link that has ended, was revoked or lost its folder says so, and no more', async () => {
  const { folder, link } = await asked({}, { ends_at: timestamp(host.clock.now() + HOUR) })
  const seen = async () => {
    const answer = await visit(host, `/l/${link}`)
    return [answer.status, (await answer.text()).includes('Choose files')]
  }
  expect(await seen()).toEqual([200, true])
  const begun = await start(link, 10, { filename: 'half.txt' })
  await host.disableAccount('owner')
  expect(await seen()).toEqual([404, false])
  expect(await put(link, 'a')).toMatchObject(refusal('LINK_NOT_FOUND'))
  expect(await uploads.patch(placeOf(begun), 0, BYTES)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
  await host.database.updateTable('accounts').set({ disabled_at: null }).execute()
  host.clock.advance(HOUR)
  expect(await seen()).toEqual([404, false])
  const other = await makeLink(host, key, { folders: [folder], uploads: {} })
  await api(host, key, 'POST', '/api/v1/folder/delete', { identifiers: [folder] })
  expect((await visit(host, `/l/${other}`)).status).toBe(404)
  expect(await put(other, 'a')).toMatchObject(refusal('LINK_NOT_FOUND'))
})

test('a password is needed by every way, and comes by Basic authentication', async () => {
  const { link } = await asked({}, { password: 'sesame' })
  const basic = (password: string) => ({ authorization: `Basic ${btoa(`anybody:${password}`)}` })
  for (const answer of [
    await put(link, 'a'),
    await form(link, 'a'),
    await start(link, 1, { filename: 'a' }),
  ]) {
    expect(answer).toMatchObject(refusal('PASSWORD_REQUIRED'))
  }
  expect((await put(link, 'a')).body).toMatchObject({ message: expect.stringContaining('curl -u :password') })
  expect(await put(link, 'a', BYTES, basic('wrong'))).toMatchObject(refusal('WRONG_PASSWORD'))
  expect(await put(link, 'a', BYTES, basic('sesame'))).toMatchObject({ status: 200 })
})

test('an upload link has one folder, is not for downloads, and needs the right to upload', async () => {
  const folder = await makeFolder(host, key)
  const other = await makeFolder(host, key)
  const make = (fields: object, by = key) => api(host, by, 'POST', '/api/v1/links', fields)
  for (const fields of [
    { folders: [folder, other], uploads: {} },
    { folders: [folder], uploads: {}, max_downloads: 1 },
    { folders: [folder], uploads: { max_files: 0 } },
    { folders: [folder], uploads: { types: ['pdf'] } },
    { folders: [folder], uploads: { fields: { sender: 'maybe' } } },
    { folders: [folder], uploads: { colour: 'red' } },
  ]) {
    expect(await make(fields)).toMatchObject({ status: 400 })
  }
  const keeper = await host.addKey('owner', { scopes: ['read', 'manage'] })
  expect(await make({ folders: [folder], uploads: {} }, keeper)).toMatchObject({
    status: 403,
    body: { error: 'SCOPE_MISSING' },
  })
  const plain = await makeLink(host, keeper, { folders: [folder] })
  expect(await put(plain, 'a')).toMatchObject(refusal('LINK_NOT_FOUND'))
  const change = await api(host, key, 'PATCH', `/api/v1/links/${plain}`, { uploads: {} })
  expect(change).toMatchObject({ status: 400 })
  const { link } = await asked({ max_files: 5, fields: { sender: 'required' } })
  const { body } = await owner.get(`/api/v1/links/${link}`)
  const same = z.object({ data: z.record(z.string(), z.unknown()) }).parse(body).data
  expect(await api(host, key, 'PATCH', `/api/v1/links/${link}`, same)).toMatchObject({ status: 200 })
  expect((await stateOf(link)).uploads).toMatchObject({ max_files: 5, fields: { sender: 'required' } })
})
