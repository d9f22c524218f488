/** Downloads of a limited link from a server that is killed. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { makeLink } from '../support/clients/links.ts'
import { api, randomBytes, upload, visit } from '../support/clients/public.ts'
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

test('a place is taken before the first byte, and stays taken through a kill: never one more than allowed', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const settings = { MIN_FREE_SPACE: '1MB' }
  await using first = await startChild(dataDir, settings)
  const key = (await addAccount(dataDir, 'ann')).apiKey
  const file = await upload(first, { key, bytes: BYTES })
  const link = await makeLink(first, key, { files: [file.uuid], max_downloads: 2 })
  const running = await begin(first, link)
  expect(running).not.toBeNull()
  await first.kill()
  await running?.cancel().catch(() => {})
  await using server = await startChild(dataDir, settings)
  const state = async () => read.parse((await api(server, key, 'GET', `/api/v1/links/${link}`)).body).data
  expect(await state()).toMatchObject({ state: 'live', downloads: 1 })
  const last = await begin(server, link)
  expect(last).not.toBeNull()
  expect(await begin(server, link)).toBeNull()
  await last?.cancel()
  await server.stop()
}, 120_000)
