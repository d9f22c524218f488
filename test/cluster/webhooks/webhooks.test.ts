/** What is sent to webhooks, when again, and when no more. */
// Only in test:all: days of a clock; webhook-request.test.ts has what is sent where.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, HOUR, MINUTE } from '../../../src/domain/clock.ts'
import type { AccountId, FolderIdentifier } from '../../../src/domain/ids.ts'
import { makeLink, revokeLink } from '../../support/clients/links.ts'
import { api, GENEROUS, makeFolder, textBytes, visit, withHoldfast } from '../../support/clients/public.ts'
import { signatureOf, startWebhookReceiver } from '../../support/clients/webhook-receiver.ts'
import { onCluster, startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { type MailServer, startMailServer } from '../../support/sign-in/mail-server.ts'
import { verifyAddress } from '../../support/sign-in/verified-address.ts'

let mails: MailServer
let host: TestHoldfast
beforeAll(async () => {
  mails = await startMailServer()
  const settings = { publicUrl: 'http://files.example.org', mail: mails.config, webhookPrivateNetworks: true }
  host = await startHoldfast({ ...GENEROUS, ...settings })
}, 120_000)
afterAll(async () => {
  await host.stop()
  await mails[Symbol.asyncDispose]()
})

const made = z.object({ data: z.object({ id: z.number(), secret: z.string() }) })
const delivery = z.object({
  id: z.number(),
  event: z.string(),
  kind: z.string(),
  state: z.string(),
  tries: z.number(),
  status: z.number().nullable(),
  failure: z.string().nullable(),
})
const deliveries = z.object({ data: z.array(delivery) })
const webhook = z.object({ data: z.object({ disabled_at: z.string().nullable() }) })

/** An account with a link that takes files, and a webhook that leads to a receiver of its own. */
async function listening(fields: object = {}) {
  const receiver = startWebhookReceiver()
  const { id: account, username, apiKey: key } = await host.addAccount()
  const folder = await makeFolder(host, key)
  const link = await makeLink(host, key, { folders: [folder], uploads: {} })
  const added = await api(host, key, 'POST', '/api/v1/webhooks', { url: receiver.url, ...fields })
  expect(added.status).toBe(201)
  const { id, secret } = made.parse(added.body).data
  const path = `/api/v1/webhooks/${id}`
  return {
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
    ...{ account, username, key, link, id, secret, path, receiver },
    async arrive(name: string) {
      const sent = await visit(host, `/l/${link}/${name}`, { method: 'PUT', body: textBytes(name) })
      expect(sent.status).toBe(200)
    },
    deliveries: async () => deliveries.parse((await api(host, key, 'GET', `${path}/deliveries`)).body).data,
    isDisabled: async () => webhook.parse((await api(host, key, 'GET', path)).body).data.disabled_at !== null,
  }
}

async function later(milliseconds: number): Promise<void> {
  host.clock.advance(milliseconds)
  await host.runJobs()
}

test('an event is posted once, signed, and says what happened to which link', async () => {
  await using of = await listening({ kinds: ['link.arrived'] })
  await of.arrive('letter.txt')
  await revokeLink(host, of.key, of.link)
  await host.runJobs()
  await host.runJobs()
  expect(of.receiver.events).toHaveLength(1)
  const [event] = of.receiver.events
  expect(event).toMatchObject({
    type: 'link.arrived',
    data: {
      link: { slug: of.link, url: `http://files.example.org/l/${of.link}` },
      file: { name: 'letter.txt' },
      bytes: 10,
    },
  })
  expect(event?.signature).toBe(event && signatureOf(of.secret, event))
  expect(await of.deliveries()).toMatchObject([
    { event: event?.id, state: 'delivered', status: 204, tries: 0 },
  ])
})

test('what fails is tried again under its id, and by hand once more', async () => {
  await using of = await listening()
  of.receiver.answer(503)
  await of.arrive('a.txt')
  await host.runJobs()
  expect(await of.deliveries()).toMatchObject([
    { state: 'waiting', tries: 1, status: 503, failure: 'status' },
  ])
  await later(MINUTE)
  of.receiver.answer(200)
  await later(5 * MINUTE)
  const [sent] = await of.deliveries()
  expect(sent).toMatchObject({ state: 'delivered', status: 200, failure: null })
  const again = await api(host, of.key, 'POST', `${of.path}/deliveries/${sent?.id}/replay`)
  expect([again.status, again.body]).toMatchObject([200, { data: { state: 'waiting', event: sent?.event } }])
  await host.runJobs()
  const ids = of.receiver.events.map(({ id }) => id)
  expect(ids.length).toBeGreaterThanOrEqual(4)
  expect([...new Set<string | undefined>(ids)]).toEqual([sent?.event])
  const texts = of.receiver.events.map(({ text }) => text)
  expect(new Set(texts).size).toBe(1)
})

test('what waits goes to another address from its change on, and what the former one answers then counts no more', async () => {
  await using of = await listening()
  await using other = startWebhookReceiver()
  const held = Promise.withResolvers<number>()
  of.receiver.answer(held.promise)
  await of.arrive('a.txt')
  const sending = host.runJobs()
  await of.receiver.received(1)
  await of.arrive('b.txt')
  const change = { url: other.url, kinds: ['link.arrived'] }
  const changed = await api(host, of.key, 'PATCH', of.path, change)
  expect([changed.status, changed.body]).toMatchObject([200, { data: change }])
  held.resolve(410)
  await sending
  await other.received(2, () => host.runJobs())
  expect(of.receiver.events).toHaveLength(1)
  expect(other.events.map(({ data }) => data.file?.name).sort()).toEqual(['a.txt', 'b.txt'])
  expect(other.events.map(({ id }) => id)).toContain(of.receiver.events[0]?.id ?? '')
  const [event] = other.events
  expect(event?.signature).toBe(event && signatureOf(of.secret, event))
  expect(await of.isDisabled()).toBe(false)
  expect(await of.deliveries()).toMatchObject([
    { state: 'delivered', tries: 0 },
    { state: 'delivered', tries: 0 },
  ])
})

test('what waits while the account is disabled is sent when it is enabled again', async () => {
  await using of = await listening()
  of.receiver.answer(503)
  await of.arrive('a.txt')
  await host.runJobs()
  await host.disableAccount(of.username)
  await later(DAY)
  expect(of.receiver.events).toHaveLength(1)
  const accounts = host.database.updateTable('accounts').where('id', '=', of.account as AccountId)
  await accounts.set({ disabled_at: null }).execute()
  of.receiver.answer(204)
  await host.runJobs()
  expect(of.receiver.events).toHaveLength(2)
  expect(await of.deliveries()).toMatchObject([{ state: 'delivered', tries: 1 }])
})

test('a receiver that says that it is gone gets nothing more, until it is enabled again', async () => {
  await using of = await listening()
  of.receiver.answer(410)
  await of.arrive('a.txt')
  await host.runJobs()
  expect(await of.isDisabled()).toBe(true)
  await of.arrive('b.txt')
  await host.runJobs()
  expect(of.receiver.events).toHaveLength(1)
  expect((await api(host, of.key, 'POST', `${of.path}/test`)).status).toBe(400)
  of.receiver.answer(204)
  expect((await api(host, of.key, 'PATCH', of.path, { enabled: true })).status).toBe(200)
  expect(await of.isDisabled()).toBe(false)
  expect((await api(host, of.key, 'POST', `${of.path}/test`)).status).toBe(200)
  await host.runJobs()
  expect(of.receiver.events[1]).toMatchObject({ type: 'webhook.test', data: { link: null } })
})

test('after a day of failures the webhook is disabled, and its owner told', async () => {
  await using of = await listening()
  const address = await verifyAddress(host.database, of.account, `${of.username}@example.org`)
  of.receiver.answer(500)
  await of.arrive('a.txt')
  await host.runJobs()
  for (let hours = 0; hours < 24; hours += 6) await later(6 * HOUR)
  expect(mails.take(address)?.subject).toContain('came by')
  expect(await of.isDisabled()).toBe(false)
  for (let times = 0; times < 8; times++) await later(13 * HOUR)
  expect(await of.isDisabled()).toBe(true)
  expect(await of.deliveries()).toMatchObject([{ state: 'failed', status: 500, tries: 11 }])
  await host.runJobs()
  const mail = mails.take(address)
  expect(mail?.subject).toBe('A webhook was disabled')
  expect(mail?.text).toContain(of.receiver.url)
  await later(8 * DAY)
  expect(await of.deliveries()).toEqual([])
})

test('an event that fails for good disables no webhook that has taken another within a day', async () => {
  await using of = await listening()
  of.receiver.answer(500)
  await of.arrive('a.txt')
  await host.runJobs()
  for (let times = 0; times < 9; times++) await later(13 * HOUR)
  expect(await of.deliveries()).toMatchObject([{ state: 'waiting', tries: 10 }])
  of.receiver.answer(200)
  await of.arrive('b.txt')
  await later(HOUR)
  of.receiver.answer(500)
  await later(13 * HOUR)
  expect(await of.deliveries()).toMatchObject([{ state: 'delivered' }, { state: 'failed', tries: 11 }])
  expect(await of.isDisabled()).toBe(false)
})

test('other events of a webhook that has just failed wait too', async () => {
  await using of = await listening()
  of.receiver.answer(503)
  for (const name of ['a.txt', 'b.txt']) await of.arrive(name)
  await host.runJobs()
  expect(of.receiver.events).toHaveLength(1)
})

test('an account has ten webhooks at most, of addresses that can be used', async () => {
  await using of = await listening()
  const add = async (fields: object) => (await api(host, of.key, 'POST', '/api/v1/webhooks', fields)).status
  for (const url of ['ftp://example.org', 'http://me@example.org', 'http://example.org:22', 'x']) {
    expect(await add({ url })).toBe(400)
  }
  expect(await add({ url: 'https://example.org', secret: 'whsec_short' })).toBe(400)
  expect(await add({ url: 'https://example.org', kinds: ['link.unknown'] })).toBe(400)
  expect(await add({ url: 'https://example.org', kind: 'link.arrived' })).toBe(400)
  for (let more = 1; more < 10; more++) expect(await add({ url: `https://example.org/${more}` })).toBe(201)
  expect(await add({ url: 'https://example.org' })).toBe(400)
  expect((await api(host, of.key, 'DELETE', of.path)).status).toBe(200)
  expect((await api(host, of.key, 'GET', of.path)).status).toBe(404)
  expect(await add({ url: 'https://example.org' })).toBe(201)
})

test('a key that may not read everything has no part in webhooks', async () => {
  await using of = await listening()
  const folder = await makeFolder(host, of.key)
  const bound = await host.addKey(of.username, { folder: folder as FolderIdentifier })
  const managing = await host.addKey(of.username, { scopes: ['manage'] })
  for (const key of [bound, managing]) {
    expect((await api(host, key, 'POST', '/api/v1/webhooks', { url: of.receiver.url })).status).toBe(403)
  }
  const elsewhere = { url: 'https://elsewhere.example/' }
  expect((await api(host, managing, 'PATCH', of.path, elsewhere)).status).toBe(403)
  expect((await api(host, bound, 'PATCH', of.path, elsewhere)).status).toBe(404)
  expect((await api(host, bound, 'POST', `${of.path}/test`)).status).toBe(404)
  expect((await api(host, bound, 'GET', '/api/v1/webhooks')).body).toMatchObject({ data: [] })
})

test.skipIf(onCluster)('without the setting, nothing is sent into private networks', async () => {
  await withHoldfast({}, async (at) => {
    await using receiver = startWebhookReceiver()
    const { apiKey: key } = await at.addAccount()
    const { port } = new URL(receiver.url)
    const add = (hostname: string) =>
      api(at, key, 'POST', '/api/v1/webhooks', { url: `http://${hostname}:${port}/` })
    for (const address of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
    ])
      expect((await add(address)).status).toBe(400)
    const added = await add('localhost')
    const path = `/api/v1/webhooks/${made.parse(added.body).data.id}`
    const elsewhere = { url: `http://127.0.0.1:${port}/` }
    expect((await api(at, key, 'PATCH', path, elsewhere)).status).toBe(400)
    await api(at, key, 'POST', `${path}/test`)
    await at.runJobs()
    const { body } = await api(at, key, 'GET', `${path}/deliveries`)
    expect(deliveries.parse(body).data).toMatchObject([
      { state: 'waiting', failure: 'connection', status: null },
    ])
    expect(receiver.events).toEqual([])
  })
})

test('accounts whose receivers do not answer delay no other: deliveries take turns by account', async () => {
  await using stack = new AsyncDisposableStack()
  const { promise: answered, resolve } = Promise.withResolvers<number>()
  const account = async (webhooks: number) => {
    const receiver = stack.use(startWebhookReceiver())
    const { apiKey: key } = await host.addAccount()
    const paths: string[] = []
    for (let count = 0; count < webhooks; count++) {
      const added = await api(host, key, 'POST', '/api/v1/webhooks', { url: receiver.url })
      paths.push(`/api/v1/webhooks/${made.parse(added.body).data.id}`)
    }
    const send = () =>
      Promise.all(paths.map(async (path) => (await api(host, key, 'POST', `${path}/test`)).status))
    return { receiver, send }
  }
  const slow = await Promise.all([account(10), account(10)])
  const other = await account(1)
  for (const { receiver } of slow) receiver.answer(answered)
  for (const { send } of [...slow, other]) expect(new Set(await send())).toEqual(new Set([200]))
  const run = host.runJobs()
  await other.receiver.received(1)
  // The slow ones hold no more than their part meanwhile.
  for (const { receiver } of slow) expect(receiver.events.length).toBeLessThanOrEqual(4)
  resolve(204)
  await run
  for (const { receiver } of slow) await receiver.received(10, () => host.runJobs())
})
