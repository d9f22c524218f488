/** The product where Bun has nothing beneath `node:http` that is known: slower, and whole. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { api, newcomer } from '../../../support/clients/api.ts'
import { watchEvents } from '../../../support/clients/events.ts'
import { tus } from '../../../support/clients/tus.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const LARGE = Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251)

let holdfast: TestHoldfast
beforeAll(async () => {
  holdfast = await startHoldfast({}, undefined, 'node:http')
})
afterAll(() => holdfast.stop())

async function downloaded(url: string, headers: Record<string, string> = {}): Promise<Response> {
  const page = await fetch(`${url}?download=1`, { redirect: 'manual' })
  expect(page.status).toBe(302)
  return fetch(new URL(page.headers.get('location') ?? '', url), { headers })
}

test('forms, raw bodies and chunks are stored, and downloaded with their length', async () => {
  const owner = await newcomer(holdfast)
  for (const options of [{}, { chunked: true }]) {
    const { url } = await owner.put(LARGE, options)
    const response = await downloaded(url)
    expect(response.headers.get('content-length')).toBe(String(LARGE.length))
    expect(Buffer.from(await response.bytes()).equals(LARGE)).toBe(true)
  }
  const raw = await owner.send('/raw.bin', { method: 'PUT', body: LARGE })
  expect(raw.status).toBe(200)
  expect((await (await downloaded(String(raw.body).trim())).bytes()).length).toBe(LARGE.length)
})

test('ranges and the head alone are answered with their lengths', async () => {
  const { url } = await (await newcomer(holdfast)).put(LARGE)
  const part = await downloaded(url, { range: 'bytes=1000-2999' })
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 1000-2999/${LARGE.length}`])
  expect(Buffer.from(await part.bytes()).equals(LARGE.subarray(1000, 3000))).toBe(true)
  const head = await fetch(part.url, { method: 'HEAD' })
  expect(head.headers.get('content-length')).toBe(String(LARGE.length))
  const page = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  expect(page.headers.get('content-length')).toBe(String((await page.bytes()).length))
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
})

test('a resumable upload goes on where it stopped', async () => {
  const caller = tus(await newcomer(holdfast))
  const { path, slug } = await caller.start(LARGE.length)
  expect((await caller.patch(path, 0, LARGE.slice(0, 1_000_000))).status).toBe(204)
  expect(await caller.offset(path)).toBe(1_000_000)
  expect((await caller.patch(path, 1_000_000, LARGE.slice(1_000_000))).status).toBe(204)
  const content = await (await downloaded(`${holdfast.url}/d/${slug}`)).bytes()
  expect(Buffer.from(content).equals(LARGE)).toBe(true)
})

test('an account is told of what changes, and its folder comes as an archive', async () => {
  const account = await holdfast.addAccount()
  const owner = api(holdfast, account.apiKey)
  await using watcher = await watchEvents(holdfast, account.apiKey)
  const folder = await owner.folder('a folder', { public: true })
  const { file_id: file } = await owner.put(LARGE, { folder })
  await watcher.until(({ data }) => data.kind === 'file.added' && data.file === file)
  const headers = { authorization: `Bearer ${account.apiKey}` }
  const archive = await fetch(`${holdfast.url}/api/v1/folder/${folder}/download`, { headers })
  expect(archive.status).toBe(200)
  const { length } = await archive.bytes()
  expect(length).toBeGreaterThan(LARGE.length)
  expect(archive.headers.get('content-length')).toBe(String(length))
})
