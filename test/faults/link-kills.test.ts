/** Links of a server that is killed: downloads that are counted, and events on their way to a webhook. */
// Only in test:all: a kill, and two starts of the program.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { makeLink } from '../support/clients/links.ts'
import { api, randomBytes, upload, visit } from '../support/clients/public.ts'
import { startWebhookReceiver } from '../support/clients/webhook-receiver.ts'
import { addAccount, startChild, temporaryFolder } from '../support/processes/child.ts'

/** More than what the sockets of a connection hold. */
const BYTES = randomBytes(16 * 1024 * 1024)

const read = z.object({ data: z.object({ state: z.string(), downloads: z.number() }) })

/** A download of which the first bytes have come. */
async function begin(server: { readonly url: string }, link: string) {
  const answer = await visit(server, `/l/${link}?download=1`)
  if (answer.status !== 302) return null
  const bytes = await visit(server, answer.headers.get('location') ?? '')
  const reader = bytes.body?.getReader()
  await reader?.read()
  return reader ?? null
}

/** A minute goes by for what the killed server was sending. */
function makeDue(dataDir: string): void {
  using database = new Database(join(dataDir, 'holdfast.sqlite'))
  database.run('update webhook_deliveries set due_at = 0 where due_at is not null')
}

test('a place is taken before the first byte, and stays taken through a kill: never one more than allowed; an event on its way is sent again under its id', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const settings = { MIN_FREE_SPACE: '1MB', WEBHOOK_PRIVATE_NETWORKS: 'true' }
  await using receiver = startWebhookReceiver()
  receiver.answer(null)
  await using first = await startChild(dataDir, settings)
  const key = (await addAccount(dataDir, 'ann')).apiKey
  const file = await upload(first, { key, bytes: BYTES })
  const link = await makeLink(first, key, { files: [file.uuid], max_downloads: 2 })
  const running = await begin(first, link)
  expect(running).not.toBeNull()
  await api(first, key, 'POST', '/api/v1/webhooks', { url: receiver.url })
  const made = await api(first, key, 'POST', '/api/v1/folder', { name: 'Inbox' })
  const folderId = z.object({ data: z.object({ identifier: z.string() }) }).parse(made.body).data.identifier
  const asking = await makeLink(first, key, { folders: [folderId], uploads: {} })
  expect((await visit(first, `/l/${asking}/a.txt`, { method: 'PUT', body: 'a' })).status).toBe(200)
  await receiver.received(1)
  await first.kill()
  makeDue(dataDir)
  receiver.answer(204)
  await running?.cancel().catch(() => {})
  await using server = await startChild(dataDir, settings)
  const state = async () => read.parse((await api(server, key, 'GET', `/api/v1/links/${link}`)).body).data
  expect(await state()).toMatchObject({ state: 'live', downloads: 1 })
  const last = await begin(server, link)
  expect(last).not.toBeNull()
  expect(await begin(server, link)).toBeNull()
  await last?.cancel()
  const [before, after] = await receiver.received(2)
  expect([after?.id, after?.timestamp]).toEqual([before?.id, before?.timestamp])
  await server.stop()
}, 120_000)
