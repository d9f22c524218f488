/** What guests have uploaded becomes an account's, by its receipt. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { wrongSums } from '../../../src/contents/sums.ts'
import { DAY } from '../../../src/domain/clock.ts'
import { type AccountId, type FolderIdentifier, GUESTS } from '../../../src/domain/ids.ts'
import { type Answer, type Api, api, newcomer, refusal } from '../../support/clients/api.ts'
import { makeLink } from '../../support/clients/links.ts'
import { sessionHeaders, signedIn } from '../../support/clients/site-visitor.ts'
import { tus } from '../../support/clients/tus.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const LIMIT = 1000

let holdfast: TestHoldfast
let guest: Api
beforeAll(async () => {
  holdfast = await startHoldfast({ storageLimit: LIMIT })
  guest = api(holdfast)
})
afterAll(async () => {
  // Whatever was moved or refused, every count is what it counts.
  const wrong: string[] = []
  for await (const { lines } of wrongSums(holdfast.database)) wrong.push(...lines)
  await holdfast.stop()
  expect(wrong).toEqual([])
})

const uploaded = z.object({ slug: z.string(), url: z.string(), file_id: z.number(), receipt: z.string() })

async function put(content: string, name = 'mine.txt') {
  return uploaded.parse((await guest.upload(content, { name })).body)
}

function claim(by: Pick<Api, 'post'>, receipt: string, body: object = {}): Promise<Answer> {
  return by.post(`/api/v1/receipt/${receipt}/claim`, body)
}

async function storage(account: number): Promise<{ storage_used: number; files_count: number }> {
  const rows = holdfast.database.selectFrom('accounts').select(['storage_used', 'files_count'])
  return rows.where('id', '=', account as AccountId).executeTakeFirstOrThrow()
}

const lookAt = (receipt: string) => guest.get(`/api/v1/receipt/${receipt}`)
const expiry = z.object({ data: z.object({ expires_at: z.string() }) })

test('a claimed file is the account’s: its link stays, and its receipt is for nothing', async () => {
  const owner = await newcomer(holdfast)
  const { slug, url, file_id, receipt } = await put('claimed')
  const before = await storage(GUESTS)
  holdfast.clock.advance(3 * DAY)
  const { data } = expiry.parse((await lookAt(receipt)).body)
  const claimed = await claim(owner, receipt)
  expect(claimed).toMatchObject({ status: 200, body: { success: true, slug, url, file_id, size: 7 } })
  expect(JSON.stringify(claimed.body)).not.toContain('receipt')
  expect(await storage(GUESTS)).toEqual({
    storage_used: before.storage_used - 7,
    files_count: before.files_count - 1,
  })
  expect((await owner.get('/api/v1/account')).body).toMatchObject({
    data: { storage_used: 7, files_count: 1 },
  })
  const detail = await owner.get(`/api/v1/file/${slug}`)
  expect(detail).toMatchObject({ status: 200, body: { data: { name: 'mine.txt', folder_id: 'root' } } })
  expect(Date.parse(expiry.parse(detail.body).data.expires_at)).toBeGreaterThanOrEqual(
    Date.parse(data.expires_at) + 3 * DAY,
  )
  expect((await fetch(url)).status).toBe(200)
  expect(await lookAt(receipt)).toMatchObject(refusal('NOT_FOUND'))
  expect(await guest.patch(`/api/v1/receipt/${receipt}`, { name: 'x' })).toMatchObject(refusal('NOT_FOUND'))
  expect(await guest.send(`/api/v1/receipt/${receipt}`, { method: 'DELETE' })).toMatchObject(
    refusal('NOT_FOUND'),
  )
  expect((await fetch(`${holdfast.url}/r/${receipt}`)).status).toBe(404)
  expect((await owner.post('/file/delete', { identifiers: [slug] })).body).toMatchObject({ files_deleted: 1 })
})

test('it is claimed once: again by the same account changes nothing, and another has no part in it', async () => {
  const [owner, other] = [await newcomer(holdfast), await newcomer(holdfast)]
  const folder = await owner.folder('kept')
  const { slug, receipt } = await put('once')
  expect(await claim(owner, receipt, { folder })).toMatchObject({ status: 200 })
  expect(await claim(owner, receipt)).toMatchObject({ status: 200, body: { slug } })
  expect(await claim(other, receipt)).toMatchObject(refusal('NOT_FOUND'))
  expect((await owner.get(`/api/v1/file/${slug}`)).body).toMatchObject({ data: { folder_id: folder } })
  const racers = await Promise.all(Array.from({ length: 6 }, () => newcomer(holdfast)))
  const { receipt: wanted } = await put('raced for')
  const answers = await Promise.all(racers.map((each) => claim(each, wanted)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404])
})

test('its folder decides from then on who sees it; a folder that is not the account’s takes nothing', async () => {
  const [owner, other] = [await newcomer(holdfast), await newcomer(holdfast)]
  const { url, receipt } = await put('private')
  const foreign = await other.folder('foreign', { public: 0 })
  for (const folder of [foreign, 'z000000000000000']) {
    expect(await claim(owner, receipt, { folder })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
  }
  expect(await lookAt(receipt)).toMatchObject({ status: 200 })
  expect((await fetch(url)).status).toBe(200)
  const folder = await owner.folder('closed', { public: 0 })
  expect(await claim(owner, receipt, { folder })).toMatchObject({ status: 200 })
  expect((await fetch(url)).status).toBe(404)
})

test('a key that is kept to a folder claims into that one alone', async () => {
  const { username, apiKey } = await holdfast.addAccount()
  const all = api(holdfast, apiKey)
  const [own, beside] = [await all.folder('own'), await all.folder('beside')]
  const kept = api(holdfast, await holdfast.addKey(username, { folder: own as FolderIdentifier }))
  const { slug, receipt } = await put('bound')
  expect(await claim(kept, receipt, { folder: beside })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
  expect(await claim(kept, receipt)).toMatchObject({ status: 200 })
  expect((await all.get(`/api/v1/file/${slug}`)).body).toMatchObject({ data: { folder_id: own } })
})

test('what does not fit stays the guest’s, however many are claimed and uploaded at once', async () => {
  const owner = await newcomer(holdfast)
  const { receipt: tooLarge } = await put('x'.repeat(LIMIT + 1))
  expect(await claim(owner, tooLarge)).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
  expect(await lookAt(tooLarge)).toMatchObject({ status: 200 })
  const receipts = await Promise.all(Array.from({ length: 12 }, (_, each) => put(String(each).padEnd(100))))
  const answers = await Promise.all([
    ...receipts.map(({ receipt }) => claim(owner, receipt)),
    ...Array.from({ length: 6 }, (_, each) => owner.upload(`up ${each}`.padEnd(100))),
  ])
  const codes = answers.map(({ status }) => status)
  expect(codes.filter((status) => status === 200)).toHaveLength(LIMIT / 100)
  expect(codes.filter((status) => status === 413)).toHaveLength(18 - LIMIT / 100)
  expect((await owner.get('/api/v1/account')).body).toMatchObject({ data: { storage_used: LIMIT } })
})

test('what is still arriving, and what came by an upload link, cannot be claimed', async () => {
  const { apiKey } = await holdfast.addAccount()
  const owner = api(holdfast, apiKey)
  const uploads = tus(guest)
  const created = await uploads.create({ 'upload-length': '9' })
  const receipt = created.headers.get('holdfast-receipt') ?? ''
  expect(await claim(owner, receipt)).toMatchObject(refusal('FILE_ARRIVING'))
  const path = created.headers.get('location') ?? ''
  await uploads.patch(path, 0, new TextEncoder().encode('all of it'))
  expect(await claim(owner, receipt)).toMatchObject({ status: 200 })
  // Whoever has its address has no part in the account.
  expect(await uploads.look(path)).toMatchObject(refusal('INVALID_API_KEY'))
  expect(await tus(owner).look(path)).toMatchObject({ status: 200 })
  const link = await makeLink(holdfast, apiKey, { folders: [await owner.folder('asked')], uploads: {} })
  const headers = { accept: 'application/json' }
  const sent = await guest.send(`/l/${link}/a.txt`, { method: 'PUT', body: 'sent', headers })
  const { receipt: sentReceipt } = z.object({ receipt: z.string() }).parse(sent.body)
  expect(await claim(owner, sentReceipt)).toMatchObject(refusal('NOT_FOUND'))
})

test('it takes an account and a receipt of this server', async () => {
  const { username, apiKey } = await holdfast.addAccount()
  const { receipt } = await put('careful')
  expect(await claim(guest, receipt)).toMatchObject(refusal('INVALID_API_KEY'))
  const reading = api(holdfast, await holdfast.addKey(username, { scopes: ['read', 'manage'] }))
  expect(await claim(reading, receipt)).toMatchObject(refusal('SCOPE_MISSING'))
  expect(await claim(api(holdfast, apiKey), `${receipt}x`)).toMatchObject(refusal('NOT_FOUND'))
  const session = sessionHeaders(await signedIn(holdfast, username))
  const json = { 'content-type': 'application/json' }
  const bySession = (headers: Record<string, string>) =>
    guest.send(`/api/v1/receipt/${receipt}/claim`, {
      method: 'POST',
      body: '{}',
      headers: { ...session, ...json, ...headers },
    })
  expect(await bySession({ origin: 'https://elsewhere.example' })).toMatchObject(refusal('FOREIGN_ORIGIN'))
  expect(await bySession({})).toMatchObject({ status: 200 })
})

test('what a page asks for its account is neither a guest’s nor another account’s', async () => {
  const [own, other] = [await holdfast.addAccount(), await holdfast.addAccount()]
  const session = sessionHeaders(await signedIn(holdfast, own.username))
  const page = (account: number, cookies: Record<string, string>) =>
    tus(api(holdfast)).create({ ...cookies, 'upload-length': '1', 'holdfast-account': String(account) })
  const { receipt } = await put('still a guest’s')
  const claimed = (account: number) =>
    fetch(`${holdfast.url}/api/v1/receipt/${receipt}/claim`, {
      method: 'POST',
      body: '{}',
      headers: { ...session, 'content-type': 'application/json', 'holdfast-account': String(account) },
    })

  expect((await page(own.id, session)).status).toBe(201)
  expect(await page(own.id, {})).toMatchObject(refusal('NOT_SIGNED_IN'))
  expect(await page(other.id, session)).toMatchObject(refusal('NOT_SIGNED_IN'))
  expect((await claimed(other.id)).status).toBe(401)
  // A key says whose request it is as well.
  const byKey = api(holdfast, own.apiKey)
  expect(await byKey.get('/api/v1/account', { 'holdfast-account': String(own.id) })).toMatchObject({
    status: 200,
  })
  expect(await byKey.get('/api/v1/account', { 'holdfast-account': String(other.id) })).toMatchObject(
    refusal('NOT_SIGNED_IN'),
  )
})

test('its page offers it to whoever is signed in, and a form of another site puts nothing into an account', async () => {
  const { username } = await holdfast.addAccount()
  const session = sessionHeaders(await signedIn(holdfast, username))
  const { receipt, slug } = await put('by page')
  const address = `${holdfast.url}/r/${receipt}`
  const shown = await fetch(address, { headers: session })
  expect(shown.headers.get('referrer-policy')).toBe('same-origin')
  expect(await shown.text()).toContain('Move to my account')
  const strangers = await fetch(address)
  expect(strangers.headers.get('referrer-policy')).toBe('no-referrer')
  const text = await strangers.text()
  expect(text).not.toContain('Move to my account')
  expect(text).toContain('Sign in to move it')
  const send = (headers: Record<string, string>) =>
    fetch(address, { method: 'POST', body: new URLSearchParams({ action: 'claim' }), headers })
  const foreign = { cookie: session.cookie ?? '', origin: 'https://elsewhere.example' }
  expect((await send({ ...foreign, 'sec-fetch-site': 'cross-site' })).status).toBe(401)
  expect((await send({})).status).toBe(401)
  expect(await lookAt(receipt)).toMatchObject({ status: 200 })
  const claimed = await send({ ...session, origin: holdfast.url })
  expect(claimed.status).toBe(200)
  expect(await claimed.text()).toContain('The file is in your account')
  expect((await guest.get(`/api/v1/file/${slug}`, session)).body).toMatchObject({ data: { slug } })
})
