/** One link to several uploads of a guest, made, changed and revoked by receipts. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, timestamp } from '../../../../src/domain/clock.ts'
import { GUESTS } from '../../../../src/domain/ids.ts'
import { type Answer, api, refusal } from '../../../support/clients/api.ts'
import { linkedFile } from '../../../support/clients/links.ts'
import { elements, GENEROUS, passwordForm, visit } from '../../../support/clients/public.ts'
import { metadata, tus } from '../../../support/clients/tus.ts'
import { eventually } from '../../../support/eventually.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const host = await hostOfFile(GENEROUS)

const sent = z.object({ receipt: z.string(), slug: z.string(), uuid: z.string(), file_id: z.number() })
type Sent = z.infer<typeof sent>

async function guestFile(name: string): Promise<Sent> {
  return sent.parse((await api(host).upload(name, { name })).body)
}

const make = (receipts: readonly string[], terms: object = {}) =>
  api(host).send('/api/v1/receipts/link', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ receipts, ...terms }),
  })

const made = z.object({ receipt: z.string(), data: z.looseObject({ slug: z.string(), url: z.string() }) })

async function linkTo(files: readonly Sent[], terms: object = {}) {
  const { status, body } = await make(
    files.map(({ receipt }) => receipt),
    terms,
  )
  expect(status).toBe(201)
  const { receipt, data } = made.parse(body)
  return { receipt, slug: data.slug, path: `/l/${data.slug}` }
}

const redeem = (receipt: string): Promise<Answer> =>
  api(host).send(`/api/v1/receipt/${receipt}`, { method: 'DELETE' })

const lookAt = (receipt: string): Promise<Answer> => api(host).get(`/api/v1/receipt/${receipt}`)
const change = (receipt: string, body: object): Promise<Answer> =>
  api(host).patch(`/api/v1/receipt/${receipt}`, body)

async function arrivingReceipt(): Promise<string> {
  const created = await tus(api(host)).create({
    'upload-length': '10',
    'upload-metadata': metadata({ filename: 'x' }),
  })
  return z.object({ receipt: z.string() }).parse(created.body).receipt
}

const claim = (key: string, { receipt }: Sent) =>
  api(host, key).send(`/api/v1/receipt/${receipt}/claim`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })

async function namesAt(path: string): Promise<(string | undefined)[]> {
  const page = await visit(host, path)
  expect(page.status).toBe(200)
  return elements(await page.text(), '.file-item')
    .map((item) => item.attributes['data-name'])
    .sort()
}

test('one link opens the uploads of its receipts, and no other of theirs', async () => {
  const [first, second, other] = [
    await guestFile('a.txt'),
    await guestFile('b.txt'),
    await guestFile('c.txt'),
  ]
  const { path, slug } = await linkTo([first, second, first], { name: 'Both' })
  expect(await namesAt(path)).toEqual(['a.txt', 'b.txt'])
  const bytes = await visit(host, `${await linkedFile(host, slug, second)}?download=1`, {
    redirect: 'follow',
  })
  expect(await bytes.text()).toBe('b.txt')
  expect((await visit(host, await linkedFile(host, slug, other))).status).toBe(404)
  // Nobody lists or changes it: guests have no account.
  for (const key of [undefined, (await host.addAccount()).apiKey]) {
    expect((await api(host, key).get(`/api/v1/links/${slug}`)).status).toBe(key === undefined ? 401 : 404)
  }
})

test('its terms hold: a password, an end, a number of downloads', async () => {
  const file = await guestFile('secret.txt')
  const ends = timestamp(host.clock.now() + DAY)
  const { path } = await linkTo([file], { password: 'sesame', ends_at: ends, max_downloads: 1 })
  const locked = await visit(host, path)
  expect(passwordForm(await locked.text())).not.toBeNull()
  expect((await visit(host, `${path}?download=1`)).status).toBe(403)
  const { path: once } = await linkTo([file], { max_downloads: 1 })
  const taken = await visit(host, `${once}?download=1`, { redirect: 'follow' })
  expect(await taken.text()).toBe('secret.txt')
  expect((await visit(host, once)).status).toBe(404)
  host.clock.advance(2 * DAY)
  expect((await visit(host, path)).status).toBe(404)
  expect((await visit(host, `/d/${file.slug}`)).status).toBe(200)
})

test('its receipt shows, changes and revokes it, and does nothing to its files', async () => {
  const file = await guestFile('kept.txt')
  const { receipt, path, slug } = await linkTo([file], { max_downloads: 1 })
  const shown = {
    kind: 'link',
    slug,
    title: 'kept.txt',
    max_downloads: 1,
    state: 'live',
    targets: { folders: [] },
  }
  expect(await lookAt(receipt)).toMatchObject({ status: 200, body: { data: shown } })
  expect(await make([receipt])).toMatchObject(refusal('NOT_FOUND'))
  expect(await claim((await host.addAccount()).apiKey, { ...file, receipt })).toMatchObject(
    refusal('NOT_FOUND'),
  )
  const ends_at = timestamp(host.clock.now() + DAY)
  const terms = { name: 'Trip', password: 'sesame', ends_at, max_downloads: 3 }
  expect(await change(receipt, { ...terms, kind: 'link', url: 'read only' })).toMatchObject({
    status: 200,
    body: { data: { name: 'Trip', has_password: true, ends_at, max_downloads: 3 } },
  })
  expect(passwordForm(await (await visit(host, path)).text())).not.toBeNull()
  for (const body of [
    { max_downloads: 0 },
    { ends_at: timestamp(0) },
    { keep: true },
    { slug: 1, receipts: [] },
  ]) {
    expect((await change(receipt, body)).status).toBe(400)
  }
  const form = (fields: Record<string, string>) =>
    fetch(`${host.url}/r/${receipt}`, {
      method: 'POST',
      body: new URLSearchParams({ action: 'change', ...fields }),
      redirect: 'manual',
    })
  const saved = await form({
    name: '',
    message: 'Hello',
    downloads: '',
    ends: 'never',
    password: '',
    open: 'on',
  })
  expect([saved.status, saved.headers.get('location')]).toEqual([303, `/r/${receipt}?done=changed`])
  expect(await lookAt(receipt)).toMatchObject({
    body: { data: { name: null, message: 'Hello', has_password: false, ends_at: null, max_downloads: null } },
  })
  // Limits in the wrong unit: browsers send an end of a line as two characters, and one of another script as nine.
  const message = `${'漢'.repeat(999)}\n${'😀'.repeat(1000)}`
  expect((await form({ message: message.replace('\n', '\r\n') })).status).toBe(303)
  expect(await lookAt(receipt)).toMatchObject({ body: { data: { message } } })
  expect((await form({ message: `${message}x` })).status).toBe(400)
  const refused: Record<string, string>[] = [{ downloads: 'x' }, { ends: '2' }, { password: 'x'.repeat(200) }]
  for (const fields of refused) {
    expect((await form(fields)).status).toBe(400)
  }
  expect(await (await visit(host, `/r/${receipt}`)).text()).toContain('You made this link')
  expect(await change(file.receipt, { password: 'x' })).toMatchObject(refusal('INVALID_REQUEST'))
  expect(await redeem(receipt)).toMatchObject({ status: 200, body: { message: 'The link was revoked' } })
  for (const answer of [await redeem(receipt), await lookAt(receipt), await change(receipt, { name: 'x' })]) {
    expect(answer).toMatchObject(refusal('NOT_FOUND'))
  }
  expect((await visit(host, path)).status).toBe(404)
  expect((await visit(host, `/d/${file.slug}`)).status).toBe(200)
})

test('its log is read by its receipt, and goes with the link into an account', async () => {
  const file = await guestFile('logged.txt')
  const { receipt, path, slug } = await linkTo([file], { max_downloads: 1 })
  const log = () => api(host).get(`/api/v1/receipt/${receipt}/log`)
  expect(await log()).toMatchObject({ status: 200, body: { data: [] } })
  expect(await api(host).get(`/api/v1/receipt/${file.receipt}/log`)).toMatchObject(refusal('NOT_FOUND'))
  const taken = await visit(host, `${path}?download=1`, { redirect: 'follow' })
  expect(await taken.text()).toBe('logged.txt')
  const events = [
    { kind: 'link.ended', reason: 'downloads', address: null },
    { kind: 'link.first_download', file: { name: 'logged.txt' }, bytes: 10, times: 1, address: null },
  ]
  await eventually('the download is logged', async () => {
    const { body } = await log()
    return JSON.stringify(body).includes('first_download')
  })
  expect(await log()).toMatchObject({ body: { data: events, pagination: { total: 2 } } })
  expect(await (await visit(host, `/r/${receipt}`)).text()).toContain('Downloaded for the first time')
  const { apiKey } = await host.addAccount()
  await claim(apiKey, file)
  expect(await log()).toMatchObject(refusal('NOT_FOUND'))
  const { body } = await api(host, apiKey).get(`/api/v1/links/${slug}/log`)
  expect(body).toMatchObject({ data: events })
  const strays = host.database
    .selectFrom('link_events')
    .innerJoin('links', 'links.id', 'link_events.link_id')
    .select('links.slug')
    .where('link_events.account_id', '=', GUESTS)
  expect((await strays.execute()).map((row): string => row.slug)).not.toContain(slug)
})

test('what is not a guest’s whole upload is refused, and so is what such a link does not have', async () => {
  const { receipt } = await guestFile('whole.txt')
  expect(await make([receipt, 'made.up'])).toMatchObject(refusal('NOT_FOUND'))
  expect(await make([await arrivingReceipt()])).toMatchObject(refusal('FILE_ARRIVING'))
  expect(await make([])).toMatchObject(refusal('INVALID_REQUEST'))
  expect(await make(Array.from({ length: 201 }, () => receipt))).toMatchObject(refusal('INVALID_REQUEST'))
  for (const field of [{ slug: 'mine' }, { uploads: {} }, { files: [1] }]) {
    expect(await make([receipt], field)).toMatchObject(refusal('UNKNOWN_FIELD'))
  }
  await redeem(receipt)
  expect(await make([receipt])).toMatchObject(refusal('NOT_FOUND'))
})

test('it follows its files into an account once all of them are claimed', async () => {
  const files = [await guestFile('one.txt'), await guestFile('two.txt')] as const
  const { slug, path, receipt } = await linkTo(files)
  const { apiKey } = await host.addAccount()
  const account = api(host, apiKey)
  expect((await claim(apiKey, files[0])).status).toBe(200)
  expect(await namesAt(path)).toEqual([])
  expect((await visit(host, await linkedFile(host, slug, files[0]))).status).toBe(404)
  expect(await account.get(`/api/v1/links/${slug}`)).toMatchObject(refusal('LINK_NOT_FOUND'))
  expect((await claim(apiKey, files[1])).status).toBe(200)
  expect(await namesAt(path)).toEqual(['one.txt', 'two.txt'])
  expect(await account.get(`/api/v1/links/${slug}`)).toMatchObject({
    status: 200,
    body: { data: { files: 2 } },
  })
  expect(await redeem(receipt)).toMatchObject(refusal('NOT_FOUND'))
  expect((await visit(host, path)).status).toBe(200)
})

test('a claimed file tells nothing to others, and a link whose other files went follows it', async () => {
  const [ann, bob] = [await host.addAccount(), await host.addAccount()]
  const files = [await guestFile('one.txt'), await guestFile('two.txt')] as const
  const { slug } = await linkTo(files)
  await claim(ann.apiKey, files[0])
  await api(host, ann.apiKey).patch(`/api/v1/file/${files[0].uuid}`, { name: 'secret.txt' })
  await claim(bob.apiKey, files[1])
  const { body } = await api(host, bob.apiKey).get(`/api/v1/links/${slug}`)
  expect(body).toMatchObject({ data: { title: 'two.txt' } })
  const left = [await guestFile('three.txt'), await guestFile('four.txt')] as const
  const { slug: other } = await linkTo(left)
  await claim(ann.apiKey, left[0])
  await redeem(left[1].receipt)
  await host.runJobs()
  expect(await api(host, ann.apiKey).get(`/api/v1/links/${other}`)).toMatchObject({ status: 200 })
})

test('a link of which nothing is left is forgotten', async () => {
  const file = await guestFile('looked-at.txt')
  const gone = await guestFile('gone.txt')
  const [kept, empty] = [await linkTo([file, gone]), await linkTo([gone])]
  await redeem(gone.receipt)
  for (const days of [40, 40, 11]) {
    expect((await visit(host, `/d/${file.slug}`)).status).toBe(200)
    host.clock.advance(days * DAY)
    await host.runJobs()
  }
  const rows = await host.database.selectFrom('links').select('slug').execute()
  const slugs = rows.map(({ slug }): string => slug)
  expect(slugs).toContain(kept.slug)
  expect(slugs).not.toContain(empty.slug)
})

test('an address makes 200 links a day at most', async () => {
  const arriving = await arrivingReceipt()
  let tries = 0
  let last = await make([arriving])
  for (; last.status !== 429; tries++) last = await make([arriving])
  expect(tries).toBe(200)
  expect(last).toMatchObject(refusal('RATE_LIMITED'))
  host.clock.advance(DAY)
  expect(await make([arriving])).toMatchObject(refusal('FILE_ARRIVING'))
})
