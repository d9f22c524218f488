/** What a guest gets with an upload, and can delete it by. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, HOUR } from '../../../src/domain/clock.ts'
import { GUESTS, type Slug } from '../../../src/domain/ids.ts'
import { type Answer, api, newcomer, refusal } from '../../support/clients/api.ts'
import { metadata, tus } from '../../support/clients/tus.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

const shape = z.object({ receipt: z.string() })
const BYTES = new TextEncoder().encode('half a file')

/** The receipt, the same in the body and in the header. */
function receiptOf({ body, headers }: Answer): string {
  const { receipt } = shape.parse(body)
  expect(headers.get('holdfast-receipt')).toBe(receipt)
  return receipt
}

const redeem = (receipt: string) =>
  api(holdfast).send(`/api/v1/receipt/${encodeURIComponent(receipt)}`, { method: 'DELETE' })

async function liveFiles(): Promise<number> {
  const rows = holdfast.database.selectFrom('files').select('id').where('removed_at', 'is', null)
  return (await rows.execute()).length
}

test('every way to upload as a guest answers a receipt, and it deletes the file at once, and once', async () => {
  const guest = api(holdfast)
  const body = 'by a guest'
  const json = { accept: 'application/json' }
  const answers = [
    await guest.upload(body),
    await guest.send('/raw.txt', { method: 'PUT', body, headers: json }),
    await guest.send('/api/v1/upload/raw.txt', { method: 'PUT', body, headers: json }),
  ]
  for (const answer of answers) {
    const { url } = z.object({ url: z.string() }).parse(answer.body)
    expect((await fetch(url)).status).toBe(200)
    const receipt = receiptOf(answer)
    expect(await redeem(receipt)).toMatchObject({ status: 200, body: { success: true } })
    expect((await fetch(url)).status).toBe(404)
    expect(await redeem(receipt)).toMatchObject(refusal('NOT_FOUND'))
  }
  const guests = holdfast.database.selectFrom('accounts').select('storage_used').where('id', '=', GUESTS)
  expect(await guests.executeTakeFirst()).toEqual({ storage_used: 0 })
})

const lookAt = (receipt: string) => api(holdfast).get(`/api/v1/receipt/${receipt}`)
const change = (receipt: string, body: object) =>
  api(holdfast).send(`/api/v1/receipt/${receipt}`, {
    method: 'PATCH',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const lastUsed = (slug: string) =>
  holdfast.database
    .selectFrom('files')
    .select('last_used_at')
    .where('slug', '=', slug as Slug)
    .executeTakeFirstOrThrow()

test('one shows its file without using it, renames it and keeps it for as long as a look would', async () => {
  const uploaded = await api(holdfast).upload('mine', { name: 'draft.txt' })
  const receipt = receiptOf(uploaded)
  const { slug } = z.object({ slug: z.string() }).parse(uploaded.body)
  const { last_used_at: before } = await lastUsed(slug)
  holdfast.clock.advance(3 * DAY)
  const shown = await lookAt(receipt)
  expect(shown).toMatchObject({ status: 200, body: { data: { name: 'draft.txt', slug, size: 4, views: 0 } } })
  expect(JSON.stringify(shown.body)).not.toContain(receipt)
  const page = await fetch(`${holdfast.url}/r/${receipt}`)
  expect(page.status).toBe(200)
  expect(page.headers.get('referrer-policy')).toBe('no-referrer')
  expect(page.headers.get('x-robots-tag')).toBe('noindex')
  const made = await fetch(`${holdfast.url}/r/made.up`)
  expect([made.status, made.headers.get('referrer-policy'), made.headers.get('x-robots-tag')]).toEqual([
    404,
    'no-referrer',
    'noindex',
  ])
  expect(await page.text()).toContain('draft.txt')
  await holdfast.settle()
  expect(await lastUsed(slug)).toEqual({ last_used_at: before })

  expect(await change(receipt, { name: 'final.txt' })).toMatchObject({
    body: { data: { name: 'final.txt' } },
  })
  expect(await lastUsed(slug)).toEqual({ last_used_at: before })
  const kept = z
    .object({ data: z.object({ expires_at: z.string() }) })
    .parse((await change(receipt, { keep: true })).body)
  const { last_used_at: used } = await lastUsed(slug)
  expect(used).toBeGreaterThanOrEqual(before + 3 * DAY)
  expect(Date.parse(kept.data.expires_at)).toBe(used + 45 * DAY)
  for (const body of [{}, { keep: false }, { name: '' }])
    expect(await change(receipt, body)).toMatchObject(refusal('INVALID_REQUEST'))
})

test('its page does the same by plain forms, and by nothing else', async () => {
  const receipt = receiptOf(await api(holdfast).upload('mine', { name: 'draft.txt' }))
  const send = (fields: Record<string, string>) =>
    fetch(`${holdfast.url}/r/${receipt}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { origin: 'null' },
      redirect: 'manual',
    })
  const renamed = await send({ action: 'rename', name: 'final.txt' })
  expect([renamed.status, renamed.headers.get('location')]).toEqual([303, `/r/${receipt}?done=renamed`])
  expect(renamed.headers.get('referrer-policy')).toBe('no-referrer')
  expect((await send({ action: 'keep' })).headers.get('location')).toBe(`/r/${receipt}?done=kept`)
  const bad: Record<string, string>[] = [{}, { action: 'rename', name: ' ' }, { action: 'give' }]
  for (const fields of bad) expect((await send(fields)).status).toBe(400)
  for (const query of ['?action=delete', '?done=deleted'])
    expect((await fetch(`${holdfast.url}/r/${receipt}${query}`)).status).toBe(200)
  expect(await lookAt(receipt)).toMatchObject({ body: { data: { name: 'final.txt' } } })
  const deleted = await send({ action: 'delete' })
  expect([deleted.status, (await deleted.text()).includes('is deleted')]).toEqual([200, true])
  for (const path of ['/r/', '/api/v1/receipt/'])
    expect((await fetch(`${holdfast.url}${path}${receipt}`)).status).toBe(404)
})

test('one of an upload under way says how far it is, and lets it be neither renamed nor kept', async () => {
  const about = { 'upload-length': '20', 'upload-metadata': metadata({ filename: 'a.txt' }) }
  const receipt = receiptOf(await tus(api(holdfast)).create(about, BYTES))
  const data = { status: 'uploading', name: 'a.txt', received: BYTES.length, size: 20, sha256: null }
  expect(await lookAt(receipt)).toMatchObject({ body: { data } })
  expect((await fetch(`${holdfast.url}/r/${receipt}`)).status).toBe(200)
  for (const body of [{ name: 'b.txt' }, { keep: true }])
    expect(await change(receipt, body)).toMatchObject(refusal('FILE_ARRIVING'))
  expect(await redeem(receipt)).toMatchObject({ status: 200 })
})

test('made-up ones are refused after a while, and genuine ones with them', async () => {
  const receipt = receiptOf(await api(holdfast).upload('x'))
  let refused = await lookAt('made-up')
  for (let tries = 0; refused.status === 404 && tries < 200; tries++) refused = await lookAt('made-up')
  expect(refused).toMatchObject(refusal('RATE_LIMITED'))
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await lookAt(receipt)).toMatchObject(refusal('RATE_LIMITED'))
  holdfast.clock.advance(HOUR)
  expect(await lookAt(receipt)).toMatchObject({ status: 200 })
})

test('a resumable upload has its receipt from the start, and is ended by it while it is still arriving', async () => {
  const uploads = tus(api(holdfast))
  const about = { 'upload-length': '20', 'upload-metadata': metadata({ filename: 'a.txt' }) }
  const created = await uploads.create(about, BYTES)
  const path = created.headers.get('location') ?? ''
  const receipt = receiptOf(created)
  expect(await redeem(receipt)).toMatchObject({ status: 200 })
  expect(await uploads.head(path)).toMatchObject({ status: 404 })
  expect(await redeem(receipt)).toMatchObject(refusal('NOT_FOUND'))
})

test('the answer that finishes a resumable upload has the same receipt, and it deletes the file', async () => {
  const uploads = tus(api(holdfast))
  const created = await uploads.create({ 'upload-length': String(BYTES.length) })
  const receipt = receiptOf(created)
  const done = await uploads.patch(created.headers.get('location') ?? '', 0, BYTES)
  expect(done.headers.get('holdfast-receipt')).toBe(receipt)
  expect(done.headers.get('access-control-expose-headers')).toContain('Holdfast-Receipt')
  const before = await liveFiles()
  expect(await redeem(receipt)).toMatchObject({ status: 200 })
  expect(await liveFiles()).toBe(before - 1)
})

test('nobody but the uploader sees it: not who looks at the upload, and accounts have none', async () => {
  const uploads = tus(api(holdfast))
  const created = await uploads.create({ 'upload-length': String(BYTES.length) })
  const path = created.headers.get('location') ?? ''
  for (const answer of [await uploads.head(path), await uploads.look(path)]) {
    expect(answer.headers.has('holdfast-receipt')).toBeFalse()
    expect(JSON.stringify(answer.body)).not.toContain('receipt')
  }
  await uploads.patch(path, 0, BYTES)
  const looked = await uploads.look(path)
  expect(JSON.stringify(looked.body)).not.toContain('receipt')
  const owner = await newcomer(holdfast)
  const own = [await owner.upload('x'), await tus(owner).create({ 'upload-length': '4' })]
  for (const { body, headers } of own) {
    expect(body).not.toHaveProperty('receipt')
    expect(headers.has('holdfast-receipt')).toBeFalse()
  }
})

test('a part has none, the upload that joins parts has', async () => {
  const uploads = tus(api(holdfast))
  const part = await uploads.create(
    { 'upload-length': String(BYTES.length), 'upload-concat': 'partial' },
    BYTES,
  )
  expect(part.headers.has('holdfast-receipt')).toBeFalse()
  const final = await uploads.create({ 'upload-concat': `final;${part.headers.get('location')}` })
  expect(await redeem(receiptOf(final))).toMatchObject({ status: 200 })
})

test('a repeated request gets the same receipt', async () => {
  const keyed = { headers: { 'idempotency-key': 'd2f1c7a4-5d1e-4d57-9f0b-6b0a9c3e8f10' } }
  const [first, again] = [await api(holdfast).upload('x', keyed), await api(holdfast).upload('x', keyed)]
  expect(receiptOf(again)).toBe(receiptOf(first))
})

test('one that was changed or made up deletes nothing', async () => {
  const receipt = receiptOf(await api(holdfast).upload('stays'))
  const { slug, uuid } = z
    .object({ slug: z.string(), uuid: z.string() })
    .parse((await api(holdfast).upload('stays too')).body)
  const before = await liveFiles()
  const [payload = '', mac = ''] = receipt.split('.')
  const changed = `${payload}.${mac.slice(0, -2)}${mac.endsWith('AA') ? 'BB' : 'AA'}`
  const other = `${Buffer.from(JSON.stringify(uuid)).toString('base64url')}.${mac}`
  for (const made of [changed, other, payload, slug, uuid, 'x', '.', 'é', 'a'.repeat(4000)]) {
    expect(await redeem(made)).toMatchObject(refusal('NOT_FOUND'))
  }
  expect(await liveFiles()).toBe(before)
})
