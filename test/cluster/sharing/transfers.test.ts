/** Transfers: folders with one link, made together, that uploads go into. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import type { Scope } from '../../../src/domain/access.ts'
import { DAY, HOUR, MINUTE, timestamp } from '../../../src/domain/clock.ts'
import { parseFolderIdentifier, parseSlug } from '../../../src/domain/ids.ts'
import { MOST_EMPTY_TRANSFERS_OF_ADDRESS } from '../../../src/sharing/transfers.ts'
import { type Answer, type Api, api, newcomer, refusal, withHoldfast } from '../../support/clients/api.ts'
import { elements, GENEROUS, visit } from '../../support/clients/public.ts'
import { signedIn } from '../../support/clients/site-visitor.ts'
import { metadata, tus } from '../../support/clients/tus.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const host = await hostOfFile(GENEROUS)
const guest = api(host)

const made = z.object({
  data: z.object({ url: z.string(), slug: z.string(), folder: z.string() }),
  receipt: z.string().optional(),
})

interface Transfer {
  readonly slug: string
  readonly folder: string
  readonly path: string
  readonly receipt: string
  readonly into: Record<string, string>
}

async function make(terms: object = {}, by: Api = guest): Promise<Transfer> {
  const answer = await by.post('/api/v1/transfers', terms)
  expect(answer).toMatchObject({ status: 201 })
  const { data, receipt = '' } = made.parse(answer.body)
  const into: Record<string, string> =
    receipt === '' ? { 'x-folder-id': data.folder } : { 'holdfast-transfer': receipt }
  return { slug: data.slug, folder: data.folder, path: `/l/${data.slug}`, receipt, into }
}

const put = (by: Api, { into }: Transfer, name: string) => by.put(name, { name, headers: into })
const look = (receipt: string) => guest.get(`/api/v1/receipt/${receipt}`)
const change = (receipt: string, body: object) => guest.patch(`/api/v1/receipt/${receipt}`, body)
const remove = (receipt: string) => guest.send(`/api/v1/receipt/${receipt}`, { method: 'DELETE' })
const claim = (by: Api, receipt: string) => by.post(`/api/v1/receipt/${receipt}/claim`, {})
const status = async (path: string) => (await visit(host, path)).status
const bytes = async (path: string) => (await visit(host, path, { redirect: 'follow' })).text()

async function namesAt(path: string): Promise<(string | undefined)[]> {
  const page = await visit(host, path)
  expect(page.status).toBe(200)
  return elements(await page.text(), '.file-item')
    .map((item) => item.attributes['data-name'])
    .sort()
}

const state = z.object({ data: z.looseObject({ transfer: z.looseObject({ is_whole: z.boolean() }) }) })
const isWhole = ({ body }: Answer) => state.parse(body).data.transfer.is_whole

test.each([
  ['a guest', async () => guest],
  ['an account', () => newcomer(host)],
])('%s puts files into one, and its link opens them', async (_, sender) => {
  const by = await sender()
  const transfer = await make({ name: 'Holiday', message: 'Here they are', sender: 'Ann' }, by)
  const first = await put(by, transfer, 'a.txt')
  await put(by, transfer, 'b.txt')
  const raw = await by.send('/c.txt', { method: 'PUT', body: 'c.txt', headers: transfer.into })
  expect(raw.status).toBe(200)
  expect(await namesAt(transfer.path)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  expect(await namesAt(`/f/${transfer.folder}`)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  expect(await bytes(`/d/${first.slug}?download=1`)).toBe('a.txt')
  expect(await (await visit(host, transfer.path)).text()).toContain('Holiday')
})

test('two transfers of guests may have one name; those of an account get a number', async () => {
  await make({ name: 'Same' })
  await make({ name: 'Same' })
  const by = await newcomer(host)
  await make({ name: 'Same' }, by)
  await make({ name: 'Same' }, by)
  await make({ name: 'A/B' }, by)
  const { body } = await by.get('/api/v1/folders')
  const { data } = z.object({ data: z.array(z.looseObject({ name: z.string() })) }).parse(body)
  expect(data.map(({ name }) => name)).toEqual(['Same', 'Same (2)', 'A B'])
})

test('folders of a relative path are created in a guest’s transfer alone', async () => {
  const transfer = await make({ name: 'Tree' })
  const about = { filename: 'deep.txt', relativePath: 'one/two/deep.txt' }
  const { path } = await tus(guest).start(4, about, transfer.into)
  await tus(guest).patch(path, 0, Buffer.from('deep'))
  const elsewhere = await tus(guest).start(4, about)
  await tus(guest).patch(elsewhere.path, 0, Buffer.from('flat'))
  const page = await (await visit(host, transfer.path)).text()
  // The only file of it is shown as that file.
  expect(page).toContain('deep.txt')
  await put(guest, transfer, 'top.txt')
  expect(await namesAt(transfer.path)).toEqual(['top.txt'])
  expect(await (await visit(host, transfer.path)).text()).toContain('one')
})

test('an upload names a transfer by its own receipt alone', async () => {
  const transfer = await make()
  const file = z.object({ receipt: z.string() }).parse((await guest.upload('x')).body)
  const send = (headers: Record<string, string>) => guest.upload('x', { headers })
  expect(await send({ 'holdfast-transfer': file.receipt })).toMatchObject(refusal('NOT_FOUND'))
  expect(await send({ 'holdfast-transfer': 'made up' })).toMatchObject(refusal('NOT_FOUND'))
  expect(await send({ ...transfer.into, 'x-folder-id': transfer.folder })).toMatchObject(
    refusal('INVALID_REQUEST'),
  )
  expect(await send({ 'x-folder-id': transfer.folder })).toMatchObject(refusal('INVALID_API_KEY'))
  // With a key, too, the file is the guests'.
  const by = await newcomer(host)
  await put(by, transfer, 'with a key.txt')
  expect(await bytes(`${transfer.path}?download=1`)).toBe('with a key.txt')
})

test('it is whole when it was closed or all announced files are safe, and nothing is under way', async () => {
  const announced = await make({ files: 2 })
  expect(isWhole(await look(announced.receipt))).toBe(false)
  const first = await guest.upload('a', { headers: announced.into })
  await put(guest, announced, 'b.txt')
  expect(isWhole(await look(announced.receipt))).toBe(true)
  await remove(z.object({ receipt: z.string() }).parse(first.body).receipt)
  expect(isWhole(await look(announced.receipt))).toBe(true)
  const { path } = await tus(guest).start(4, {}, announced.into)
  expect(isWhole(await look(announced.receipt))).toBe(false)
  await tus(guest).patch(path, 0, Buffer.from('more'))
  expect(isWhole(await look(announced.receipt))).toBe(true)
  expect(isWhole(await change(announced.receipt, { files: 9 }))).toBe(false)
  expect(isWhole(await change(announced.receipt, { complete: true }))).toBe(true)

  const by = await newcomer(host)
  const own = await make({}, by)
  await put(by, own, 'a.txt')
  const ofLink = () => by.get(`/api/v1/links/${own.slug}`)
  expect(isWhole(await ofLink())).toBe(false)
  // Sent back as it came, the announcement stays.
  const { data } = z.object({ data: z.looseObject({}) }).parse((await ofLink()).body)
  expect(isWhole(await by.patch(`/api/v1/links/${own.slug}`, { ...data, name: 'New' }))).toBe(false)
  expect(isWhole(await by.patch(`/api/v1/links/${own.slug}`, { complete: true }))).toBe(true)
})

test('terms close the folder in both directions, and nothing opens what its account made private', async () => {
  const by = await newcomer(host)
  const transfer = await make({}, by)
  const file = await put(by, transfer, 'a.txt')
  await put(by, transfer, 'b.txt')
  const terms = (body: object) => by.patch(`/api/v1/links/${transfer.slug}`, body)
  const show = (isPublic: 0 | 1) => by.patch(`/api/v1/folder/${transfer.folder}`, { public: isPublic })
  const open = async () => (await status(`/d/${file.slug}`)) === 200
  expect(await open()).toBe(true)
  await terms({ password: 'sesame' })
  expect(await open()).toBe(false)
  expect(await show(1)).toMatchObject(refusal('LINK_HAS_TERMS'))
  await terms({ ends_at: timestamp(host.clock.now() + DAY) })
  await terms({ password: null })
  expect(await open()).toBe(false)
  await terms({ ends_at: null })
  expect(await open()).toBe(true)
  await show(0)
  await terms({ max_downloads: 3 })
  await terms({ max_downloads: null })
  expect(await open()).toBe(false)
  await show(1)
  expect(await open()).toBe(true)
  await by.send(`/api/v1/links/${transfer.slug}`, { method: 'DELETE' })
  expect(await open()).toBe(false)
  expect(await show(1)).toMatchObject({ status: 200 })
})

test('a number of downloads gives bytes when it is whole, and takes nothing after the first', async () => {
  const transfer = await make({ max_downloads: 1 })
  await put(guest, transfer, 'once.txt')
  const early = await visit(host, `${transfer.path}?download=1`, { redirect: 'follow' })
  expect([early.status, early.headers.has('retry-after')]).toEqual([404, true])
  await change(transfer.receipt, { complete: true })
  expect(await bytes(`${transfer.path}?download=1`)).toBe('once.txt')
  await host.runJobs()
  expect(await guest.upload('late', { headers: transfer.into })).toMatchObject(refusal('LINK_USED_UP'))
  const late = await tus(guest).create({
    'upload-length': '4',
    'upload-metadata': metadata({ filename: 'x' }),
    ...transfer.into,
  })
  expect(late).toMatchObject(refusal('LINK_USED_UP'))
})

test('a transfer of one file is that file, also while it arrives', async () => {
  const transfer = await make({ files: 1 })
  const { path } = await tus(guest).start(8, { filename: 'one.txt' }, transfer.into)
  await tus(guest).patch(path, 0, Buffer.from('half'))
  const page = await visit(host, transfer.path)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('one.txt')])
  expect(await status(`${transfer.path}?download=1`)).toBe(404)
  // Followed, since it is a redirect where the last bytes come first.
  const coming = bytes(`${transfer.path}?download=1&wait=1`)
  await tus(guest).patch(path, 4, Buffer.from('half'))
  expect(await coming).toBe('halfhalf')
  expect(await bytes(`${transfer.path}?download=1`)).toBe('halfhalf')
})

test('its receipt renames, changes and deletes all of it', async () => {
  const transfer = await make({ name: 'Before' })
  const file = await put(guest, transfer, 'a.txt')
  await put(guest, transfer, 'b.txt')
  expect(await look(transfer.receipt)).toMatchObject({
    status: 200,
    body: { data: { kind: 'transfer', name: 'Before', has_password: false, state: 'live' } },
  })
  await change(transfer.receipt, { name: 'After', password: 'sesame' })
  expect(await status(`/d/${file.slug}`)).toBe(404)
  expect(await look(transfer.receipt)).toMatchObject({
    body: { data: { name: 'After', has_password: true } },
  })
  const { path } = await tus(guest).start(4, {}, transfer.into)
  expect(await remove(transfer.receipt)).toMatchObject({ status: 200 })
  for (const gone of [transfer.path, `/d/${file.slug}`, `/f/${transfer.folder}`])
    expect(await status(gone)).toBe(404)
  expect((await tus(guest).head(path)).status).toBe(410)
  expect(await look(transfer.receipt)).toMatchObject(refusal('NOT_FOUND'))
})

test('a file’s own receipt shows, renames and deletes it, and neither claims nor links it', async () => {
  const transfer = await make()
  const { receipt } = z
    .object({ receipt: z.string() })
    .parse((await guest.upload('a', { name: 'a.txt', headers: transfer.into })).body)
  expect(await change(receipt, { name: 'b.txt' })).toMatchObject({
    status: 200,
    body: { data: { name: 'b.txt' } },
  })
  expect(await claim(await newcomer(host), receipt)).toMatchObject(refusal('NOT_FOUND'))
  expect(await guest.post('/api/v1/receipts/link', { receipts: [receipt] })).toMatchObject(
    refusal('NOT_FOUND'),
  )
  expect(await remove(receipt)).toMatchObject({ status: 200 })
})

test('it is claimed whole, with folder and link, and not while files arrive', async () => {
  const transfer = await make({ name: 'Mine', password: 'sesame' })
  const file = await put(guest, transfer, 'a.txt')
  const { path } = await tus(guest).start(4, { relativePath: 'sub/b.txt' }, transfer.into)
  const by = await newcomer(host)
  await by.folder('Mine')
  expect(await claim(by, transfer.receipt)).toMatchObject(refusal('REQUEST_UNDER_WAY'))
  await tus(guest).patch(path, 0, Buffer.from('four'))
  expect(await claim(by, transfer.receipt)).toMatchObject({ status: 201 })
  expect(await by.get(`/api/v1/folder/${transfer.folder}`)).toMatchObject({
    body: { data: { name: 'Mine (2)', public: false, total_files: 2, total_folders: 1, total_size: 9 } },
  })
  expect(await by.get('/api/v1/account')).toMatchObject({
    body: { data: { storage_used: 9, files_count: 2, folders_count: 3 } },
  })
  expect(await by.get(`/api/v1/links/${transfer.slug}`)).toMatchObject({ status: 200 })
  expect(await by.get(`/api/v1/file/${file.slug}`)).toMatchObject({ status: 200 })
  expect(await look(transfer.receipt)).toMatchObject(refusal('NOT_FOUND'))
  expect(await guest.upload('x', { headers: transfer.into })).toMatchObject(refusal('NOT_FOUND'))
  expect(await claim(await newcomer(host), transfer.receipt)).toMatchObject(refusal('NOT_FOUND'))
})

test('a claim that does not fit changes nothing', async () => {
  const transfer = await make()
  const file = await put(guest, transfer, 'a.txt')
  const account = await host.addAccount()
  await host.database
    .updateTable('accounts')
    .set({ quota: 1 })
    .where('username', '=', account.username)
    .execute()
  expect(await claim(api(host, account.apiKey), transfer.receipt)).toMatchObject(
    refusal('STORAGE_LIMIT_EXCEEDED'),
  )
  expect(await status(`/d/${file.slug}`)).toBe(200)
  expect(await look(transfer.receipt)).toMatchObject({ status: 200 })
})

test('a key needs upload alone, and one for a folder makes and claims none', async () => {
  const { username, apiKey } = await host.addAccount()
  const keyWith = async (scopes: readonly Scope[], folder: string | null = null) =>
    api(
      host,
      await host.addKey(username, { scopes, folder: folder === null ? null : parseFolderIdentifier(folder) }),
    )
  await make({}, await keyWith(['upload']))
  const bound = await keyWith(['upload'], await api(host, apiKey).folder('bound'))
  expect(await bound.post('/api/v1/transfers', {})).toMatchObject(refusal('SCOPE_MISSING'))
  const { receipt } = await make()
  expect(await claim(bound, receipt)).toMatchObject(refusal('SCOPE_MISSING'))
  expect(await (await keyWith(['read'])).post('/api/v1/transfers', {})).toMatchObject(
    refusal('SCOPE_MISSING'),
  )
})

test('the same key and body make one transfer', async () => {
  const key = { 'idempotency-key': crypto.randomUUID() }
  const first = await guest.post('/api/v1/transfers', { name: 'Once' }, key)
  const again = await guest.post('/api/v1/transfers', { name: 'Once' }, key)
  expect(again.body).toEqual(first.body)
  expect(await guest.post('/api/v1/transfers', { name: 'Twice' }, key)).toMatchObject(
    refusal('IDEMPOTENCY_MISMATCH'),
  )
})

test('an upload key that went into one transfer goes into no other', async () => {
  const [one, other] = [await make(), await make()]
  const key = { 'idempotency-key': crypto.randomUUID() }
  await guest.upload('x', { headers: { ...one.into, ...key } })
  expect(await guest.upload('x', { headers: { ...other.into, ...key } })).toMatchObject(
    refusal('IDEMPOTENCY_MISMATCH'),
  )
})

test('a look at it, or at any of its files, keeps all of them', async () => {
  const transfer = await make()
  const [first, second] = [await put(guest, transfer, 'a.txt'), await put(guest, transfer, 'b.txt')]
  const days = host.config.inactiveDays
  const pass = async (by: number) => {
    host.clock.advance(by * DAY)
    await host.runJobs()
  }
  await pass(days - 1)
  await visit(host, `/d/${first.slug}?download=1`, { redirect: 'follow' })
  await pass(days - 1)
  expect(await status(`/d/${second.slug}`)).toBe(200)
  await visit(host, transfer.path)
  await pass(days - 1)
  expect(await look(transfer.receipt)).toMatchObject({ status: 200 })
  expect(await change(transfer.receipt, { keep: true })).toMatchObject({ status: 200 })
  await pass(days - 1)
  const rows = await host.database
    .selectFrom('files')
    .select('removed_at')
    .where('slug', '=', parseSlug(second.slug))
    .execute()
  expect(rows).toEqual([{ removed_at: null }])
  await pass(2)
  for (const file of [first, second]) expect(await status(`/d/${file.slug}`)).toBe(404)
})

test('one without a byte goes after an hour, others with their last file, and the address stays taken', async () => {
  const empty = await make()
  const used = await make()
  const { receipt } = z
    .object({ receipt: z.string() })
    .parse((await guest.upload('a', { headers: used.into })).body)
  host.clock.advance(HOUR - MINUTE)
  await host.runJobs()
  expect(await look(empty.receipt)).toMatchObject({ status: 200 })
  host.clock.advance(2 * MINUTE)
  await host.runJobs()
  expect(await look(empty.receipt)).toMatchObject(refusal('NOT_FOUND'))
  expect(await look(used.receipt)).toMatchObject({ status: 200 })
  await remove(receipt)
  await host.runJobs()
  expect(await look(used.receipt)).toMatchObject(refusal('NOT_FOUND'))
  const taken = async () =>
    (await host.database.selectFrom('links').select('slug').execute()).some(({ slug }) => slug === used.slug)
  host.clock.advance(89 * DAY)
  await host.runJobs()
  expect(await taken()).toBe(true)
  host.clock.advance(2 * DAY)
  await host.runJobs()
  expect(await taken()).toBe(false)
})

test('its making counts as one upload of the guest, and guests have a ceiling of empty ones', async () => {
  await withHoldfast({ guestRateLimit: 3 }, async (small) => {
    const statuses: number[] = []
    for (let at = 0; at < 3; at++) statuses.push((await api(small).post('/api/v1/transfers', {})).status)
    expect(statuses).toEqual([201, 201, 201])
    expect(await api(small).post('/api/v1/transfers', {})).toMatchObject(refusal('RATE_LIMITED'))
    expect(await api(small).upload('x')).toMatchObject(refusal('RATE_LIMITED'))
  })
  await withHoldfast(GENEROUS, async (own) => {
    for (let at = 0; at < MOST_EMPTY_TRANSFERS_OF_ADDRESS; at++) await api(own).post('/api/v1/transfers', {})
    expect(await api(own).post('/api/v1/transfers', {})).toMatchObject(
      refusal('RATE_LIMITED', /nothing has come/),
    )
  })
})

test('guests may not make any where they may not upload', async () => {
  await withHoldfast({ guestUploads: false }, async (closed) => {
    expect(await api(closed).post('/api/v1/transfers', {})).toMatchObject(refusal('GUEST_UPLOADS_DISABLED'))
  })
})

test('the page of its receipt says what was sent, and that deleting takes all of it', async () => {
  const transfer = await make({ name: 'Pictures' })
  await put(guest, transfer, 'a.txt')
  const page = `${host.url}/r/${transfer.receipt}`
  const html = await (await fetch(page)).text()
  expect(html).toContain('You sent these files')
  expect(html).toContain('All files disappear at once for everybody')
  expect(html).not.toContain('The files stay')
  const form = (action: string) =>
    fetch(page, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' })
  const gone = await form('delete')
  expect(gone.status).toBe(200)
  expect(await gone.text()).toContain('The files are deleted')
  expect((await fetch(`${host.url}/l/${transfer.slug}`)).status).toBe(404)
})

const sent = z.object({
  data: z.array(z.object({ name: z.string(), thumbnail_url: z.string() })),
  pagination: z.looseObject({ total: z.number() }),
})

test('its receipt shows the files with their thumbnails, whatever the terms, and no other receipt does', async () => {
  const transfer = await make({
    password: 'lake',
    ends_at: timestamp(host.clock.now() + DAY),
    max_downloads: 1,
  })
  await put(guest, transfer, 'a.txt')
  const { path } = await tus(guest).start(
    4,
    { filename: 'b.txt', relativePath: 'below/b.txt' },
    transfer.into,
  )
  await tus(guest).patch(path, 0, Buffer.from('text'))
  const files = async (receipt: string, page = 1) =>
    guest.get(`/api/v1/receipt/${receipt}/files?per_page=1&page=${page}`)
  const first = sent.parse((await files(transfer.receipt)).body)
  const second = sent.parse((await files(transfer.receipt, 2)).body)
  expect(first.pagination.total).toBe(2)
  expect([...first.data, ...second.data].map(({ name }) => name)).toEqual(['a.txt', 'b.txt'])
  const picture = first.data[0]?.thumbnail_url ?? ''
  const shown = await visit(host, picture)
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  const html = await (await visit(host, `/r/${transfer.receipt}`)).text()
  expect(elements(html, '.receipt-files img').map(({ attributes }) => attributes.src)).toEqual([
    picture,
    second.data[0]?.thumbnail_url,
  ])
  const other = await make({})
  const alone = z.object({ receipt: z.string() }).parse((await guest.upload('alone')).body)
  expect((await files(alone.receipt)).status).toBe(404)
  for (const receipt of [other.receipt, alone.receipt, 'none']) {
    expect(await status(picture.replace(transfer.receipt, receipt))).toBe(404)
  }
  await remove(transfer.receipt)
  expect(await status(picture)).toBe(404)
})

test('the page of its receipt moves it into the account that is signed in', async () => {
  const transfer = await make({ name: 'Mine now' })
  await put(guest, transfer, 'a.txt')
  expect(await (await visit(host, `/r/${transfer.receipt}`)).text()).toContain('Sign in to move it')
  const { username, apiKey } = await host.addAccount()
  const person = await signedIn(host, username)
  const page = `/r/${transfer.receipt}`
  expect((await person.get(page)).text).toContain('In your account the files take up your storage')
  expect((await person.submit(page, { action: 'claim' })).text).toContain('The files are in your account')
  expect((await person.get(page)).status).toBe(404)
  expect(await bytes(`${transfer.path}?download=zip`)).toContain('a.txt')
  expect((await api(host, apiKey).get('/api/v1/files')).body).toMatchObject({ data: [{ name: 'a.txt' }] })
})

test('its page tells the sender as a name that they gave, and says its title once', async () => {
  const transfer = await make({ name: 'Pictures', sender: 'Ann <b>', message: 'from the lake' })
  await put(guest, transfer, 'a.txt')
  await put(guest, transfer, 'b.txt')
  const html = await (await visit(host, transfer.path)).text()
  const [note] = elements(html, '.link-head')
  expect(note?.text).toContain('Somebody calling themselves “Ann <b>” sent you 2 documents (10 B).')
  expect(note?.text).toContain('from the lake')
  expect(note?.text).not.toContain('Pictures')
  expect(elements(html, 'h1')[0]?.text).toBe('Pictures')
})

test('its page says how much of what was announced is here, until it is whole', async () => {
  const transfer = await make({ files: 3, bytes: 3000 })
  const note = async () => elements(await (await visit(host, transfer.path)).text(), '.link-head')[0]?.text
  await put(guest, transfer, 'a.txt')
  await put(guest, transfer, 'b.txt')
  expect(await note()).toContain('2 of 3 files are here, the rest is on its way. That is 10 B of 2.9 KB.')
  await put(guest, transfer, 'c.txt')
  expect(await note()).toBeUndefined()
  const open = await make()
  for (const name of ['a.txt', 'b.txt']) await put(guest, open, name)
  const page = async () => (await visit(host, open.path)).text()
  expect(await page()).toContain('More files may still come.')
  await change(open.receipt, { complete: true })
  expect(await page()).not.toContain('More files may still come.')
})
