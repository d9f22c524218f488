/** A large file over several connections, where the line is long. */
// Only in test:all: long lines; upload.test.ts has some.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { partLengths } from '../../../src/client/policy/upload-policy.ts'
import { type Client, lines, newClient } from '../../support/cli/client.ts'
import { type Api, api } from '../../support/clients/api.ts'
import { sha256 } from '../../support/clients/caller.ts'
import { GENEROUS, randomBytes } from '../../support/clients/public.ts'
import { partsThatHaveCome } from '../../support/clients/tus-parts.ts'
import { eventually } from '../../support/eventually.ts'
import { type LongLine, startLongLine } from '../../support/network/long-line.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../../support/storage/fault-proxy.ts'
import { contentAt, stateFiles } from './uploads.ts'

const MIB = 1024 * 1024
const SIZE = 64 * MIB + 5

let host: TestHoldfast
/** Before the server; the line is before it. */
let proxy: FaultProxy
let line: LongLine
const bytes = randomBytes(SIZE)
beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  proxy = await startFaultProxy(host.url)
  line = await startLongLine(proxy.url, { roundTrip: 50, rate: 24_000_000 })
})
afterAll(async () => {
  await line.stop()
  await proxy.stop()
  await host.stop()
})

async function sender(server = line.url): Promise<{ client: Client; account: Api }> {
  const { apiKey } = await host.addAccount()
  const client = newClient()
  await client.login(server, apiKey)
  writeFileSync(join(client.folder, 'film.bin'), bytes)
  return { client, account: api(host, apiKey) }
}

const isChunk = ({ method }: ProxiedRequest) => method === 'PATCH'
const isCreation = ({ method, path }: ProxiedRequest) => method === 'POST' && path === '/api/v1/uploads'

async function expectStored(client: Client, output: string): Promise<void> {
  expect(lines(output)).toHaveLength(1)
  expect(sha256(await contentAt(output.trim()))).toBe(sha256(bytes))
  expect(stateFiles(client)).toEqual([])
}

async function expectOneFile(account: Api): Promise<void> {
  expect((await account.get('/api/v1/account')).body).toMatchObject({
    data: { files_count: 1, storage_used: SIZE },
  })
  expect(await unfinishedUploads(account)).toBe(0)
}

const unfinished = z.object({ data: z.array(z.unknown()) })
const unfinishedUploads = async (account: Api) =>
  unfinished.parse((await account.get('/api/v1/uploads')).body).data.length

test('over a long line a large file goes over four connections', async () => {
  const { client, account } = await sender()
  using _ = client
  const before = proxy.requests.length
  const { code, output, errors } = await client.run('upload', 'film.bin')
  expect({ code, errors }).toEqual({ code: 0, errors: `film.bin has its link already: ${output}` })
  await expectStored(client, output)
  await expectOneFile(account)
  const sent = proxy.requests.slice(before)
  // Eight partial uploads and the final one; eight times bytes, and the last ones, which are held back.
  expect([sent.filter(isCreation).length, sent.filter(isChunk).length]).toEqual([9, 9])
  // The link is there before any byte.
  expect(sent.findLastIndex(isCreation)).toBeLessThan(sent.findIndex(isChunk))
  expect(line.widest()).toBe(4)
})

test('where the server is near it goes over one, and so do files that are sent side by side', async () => {
  const nearCreations = async () => {
    const { client } = await sender(proxy.url)
    using _ = client
    const before = proxy.requests.length
    expect((await client.run('upload', 'film.bin')).code).toBe(0)
    return proxy.requests.slice(before).filter(isCreation).length
  }
  // A busy machine may answer as late as a server that is far away.
  let creations = 0
  for (let tries = 0; tries < 4 && creations !== 1; tries += 1) creations = await nearCreations()
  expect(creations).toBe(1)
  const far = await sender()
  using _ = far.client
  for (const name of ['2', '3', '4']) writeFileSync(join(far.client.folder, name), name)
  const then = proxy.requests.length
  expect((await far.client.run('upload', '--each', 'film.bin', '2', '3', '4')).code).toBe(0)
  expect(proxy.requests.slice(then).filter(isCreation)).toHaveLength(1)
})

test('cut connections and lost answers cost no file and no second one', async () => {
  const { client, account } = await sender()
  using _ = client
  const before = proxy.requests.length
  proxy.inject({ kind: 'cut-request', after: MIB }, { match: isChunk, times: 5 })
  proxy.inject({ kind: 'lose-answer' }, { match: isChunk, times: 2 })
  let creations = 0
  // Of the final upload: the same request finds it again.
  proxy.inject({ kind: 'lose-answer' }, { match: (request) => isCreation(request) && ++creations === 9 })
  const { code, output } = await client.run('upload', 'film.bin')
  proxy.heal()
  expect(code).toBe(0)
  await expectStored(client, output)
  await expectOneFile(account)
  expect(proxy.requests.slice(before).filter(isCreation)).toHaveLength(10)
})

test('a partial upload whose creation was not answered is created again, and the other one stays empty', async () => {
  const { client, account } = await sender()
  using _ = client
  proxy.inject({ kind: 'lose-answer' }, { match: isCreation })
  const { code, output } = await client.run('upload', 'film.bin')
  proxy.heal()
  expect(code).toBe(0)
  await expectStored(client, output)
  const { body } = await account.get('/api/v1/uploads')
  expect(body).toMatchObject({ data: [{ received: 0 }] })
})

test('where partial uploads are refused, none stays', async () => {
  const { client, account } = await sender()
  using _ = client
  let creations = 0
  const isFifth = (request: ProxiedRequest) => isCreation(request) && ++creations === 5
  proxy.inject({ kind: 'answer', status: 403 }, { match: isFifth })
  const { code } = await client.run('upload', 'film.bin')
  proxy.heal()
  expect(code).toBe(1)
  expect(await unfinishedUploads(account)).toBe(0)
  expect(stateFiles(client)).toEqual([])
})

describe('a client that is killed while it sends parts', () => {
  test.each(['account', 'guest'])('goes on with them, by a(n) %s', async (kind) => {
    const { client } = await sender()
    using _ = client
    const words = kind === 'guest' ? ['--guest', '--server', line.url] : []
    await killInTheMiddle(client, words)
    const before = proxy.requests.length
    const { code, output } = await client.run('upload', 'film.bin', ...words)
    expect(code).toBe(0)
    await expectStored(client, output)
    const sent = proxy.requests.slice(before)
    expect(sent.filter(isCreation)).toHaveLength(1)
    expect(sent.filter(isChunk).length).toBeLessThan(8)
  })

  test('begins anew where a part is gone, and leaves none', async () => {
    const { client, account } = await sender()
    using _ = client
    await killInTheMiddle(client, [])
    const { data } = z
      .object({ data: z.array(z.object({ slug: z.string() })) })
      .parse((await account.get('/api/v1/uploads')).body)
    // The whole, which has its link already, and its parts.
    expect(data).toHaveLength(9)
    expect((await account.post('/api/v1/upload/cancel', { slug: data[7]?.slug })).status).toBe(200)
    const { code, output } = await client.run('upload', 'film.bin')
    expect(code).toBe(0)
    await expectStored(client, output)
    await expectOneFile(account)
  })

  async function killInTheMiddle(client: Client, words: readonly string[]): Promise<void> {
    let chunks = 0
    const isLater = (request: ProxiedRequest) => isChunk(request) && ++chunks > 3
    proxy.inject({ kind: 'stall' }, { match: isLater, times: Infinity })
    const started = client.start('upload', 'film.bin', ...words)
    await eventually('three parts have arrived', async () => (await partsThatHaveCome(host.database)) === 3)
    await started.kill()
    proxy.heal()
    expect(stateFiles(client)).toHaveLength(1)
  }
})

test('a file that changes while its parts are sent is an error, and no part of it stays', async () => {
  const { client, account } = await sender()
  using _ = client
  let chunks = 0
  const changes = (request: ProxiedRequest) => {
    if (!isChunk(request)) return false
    chunks += 1
    if (chunks === 3) appendFileSync(join(client.folder, 'film.bin'), 'more')
    return chunks === 3
  }
  proxy.inject({ kind: 'cut' }, { match: changes })
  const { code, errors } = await client.run('upload', 'film.bin')
  expect(code).toBe(1)
  expect(errors).toContain('film.bin changed while it was sent')
  expect(stateFiles(client)).toEqual([])
  expect(await unfinishedUploads(account)).toBe(0)
})

test('parts are the whole file, small ones of a small file, and not too many', () => {
  for (const [size, count] of [
    [64 * MIB, 8],
    [SIZE, 8],
    [512 * MIB, 8],
    [512 * MIB + 1, 12],
    [10 * 1024 * MIB - 1, 32],
  ] as const) {
    const lengths = partLengths(size)
    expect(lengths).toHaveLength(count)
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(size)
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1)
  }
})
