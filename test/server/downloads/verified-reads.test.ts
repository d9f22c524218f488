/** HOLDFAST_VERIFY_READS: a whole download never ends with other bytes than were stored. What a download finds is marked. */
// Only in test:all: off by default; damaged-content.test.ts has marked contents.
// Only on a folder: hashes what the server sends, whatever store it comes from; chunks as those of S3 come are in it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Config } from '../../../src/config.ts'
import type { Sha256 } from '../../../src/domain/ids.ts'
import { startVerification } from '../../../src/downloads/verification.ts'
import type { SourceChunks } from '../../../src/server/answers/answers.ts'
import {
  detail,
  GENEROUS,
  randomBytes,
  signedAddress,
  type Uploaded,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { keptLog } from '../../support/kept-log.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { contentOf, flipByte, storeOf } from '../../support/storage/stored-contents.ts'

const KIB = 1024
const MIB = 1024 * KIB

let host: TestHoldfast
let key: string
const log = keptLog()
beforeAll(async () => {
  const settings: Partial<Config> = { verifyReads: true, scrubRate: 1024 * MIB }
  host = await startHoldfast({ ...GENEROUS, ...settings }, log)
  key = (await host.addAccount('owner')).apiKey
})
afterAll(() => host.stop())

/** What comes of a body, also when it is broken off. */
async function received({ body }: Response): Promise<{ bytes: number; isWhole: boolean }> {
  let bytes = 0
  try {
    for await (const chunk of body ?? []) bytes += chunk.byteLength
    return { bytes, isWhole: true }
  } catch {
    return { bytes, isWhole: false }
  }
}

async function markOf({ slug }: Uploaded): Promise<string | null> {
  const { id } = await contentOf(host, slug)
  const row = host.database.selectFrom('blobs').select('damaged_key').where('id', '=', id)
  return (await row.executeTakeFirstOrThrow()).damaged_key
}

const CHUNKS = [
  ['of some bytes', 5000],
  ['of one chunk', 900 * KIB],
  ['of many chunks', 5 * MIB + 1],
] as const

test.each(CHUNKS)('a content %s is sent whole as long as it is sound', async (_, size) => {
  const bytes = randomBytes(size)
  const file = await upload(host, { key, bytes })
  const address = await signedAddress(host, file, 'download')
  const sent = await Promise.all(Array.from({ length: 6 }, async () => (await visit(host, address)).bytes()))
  for (const each of sent) expect(Bun.hash(each)).toBe(Bun.hash(bytes))
})

test.each(CHUNKS)('a content %s with another byte is not, and is marked', async (_, size) => {
  const file = await upload(host, { key, bytes: randomBytes(size) })
  const { key: blob } = await contentOf(host, file.slug)
  await flipByte(host, blob)
  const address = await signedAddress(host, file, 'download')
  // A part is sent without a look: its hash is not known.
  const part = await visit(host, address, { headers: { range: 'bytes=1-9' } })
  expect(await received(part)).toEqual({ bytes: 9, isWhole: true })
  const answer = await visit(host, address)
  if (answer.status === 200) {
    const { bytes, isWhole } = await received(answer)
    expect(isWhole).toBe(false)
    expect(bytes).toBeLessThan(size)
  } else expect(await answer.json()).toMatchObject({ error: 'FILE_DAMAGED' })
  expect(log.lines.some(({ fields }) => fields.slug === file.slug)).toBe(true)
  await eventually('it is marked', async () => (await markOf(file)) === blob)
  expect((await visit(host, address)).status).toBe(500)
  await host.settle()
  expect(await detail(host, key, file)).toMatchObject({ downloads: 0, views: 0 })
})

test('a content that is gone, or has lost its end, is marked by its download', async () => {
  const blobs = await storeOf(host)
  for (const left of [null, 10]) {
    const file = await upload(host, { key, bytes: randomBytes(5000) })
    const { key: blob } = await contentOf(host, file.slug)
    await blobs.remove(blob)
    if (left !== null) {
      const writer = await blobs.create(blob)
      await writer.write(randomBytes(left))
      await writer.complete()
    }
    expect((await visit(host, await signedAddress(host, file, 'download'))).status).toBe(500)
    await eventually('it is marked', async () => (await markOf(file)) === blob)
  }
})

test('receivers that leave in the middle disturb nobody', async () => {
  const bytes = randomBytes(8 * MIB)
  const file = await upload(host, { key, bytes })
  const address = await signedAddress(host, file, 'download')
  for (let time = 0; time < 8; time++) {
    const leaving = new AbortController()
    const answer = await visit(host, address, { signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
  }
  expect(Bun.hash(await (await visit(host, address)).bytes())).toBe(Bun.hash(bytes))
  expect(await markOf(file)).toBeNull()
})

/** Chunks as they come over a network, and a failure after the last of them where there is one. */
function chunksOf(bytes: Uint8Array, sizes: readonly number[], failure: Error | null): SourceChunks {
  const left = [...sizes]
  let at = 0
  return {
    async next() {
      const size = left.shift()
      if (size === undefined && failure !== null) throw failure
      if (size === undefined) return null
      at += size
      return bytes.subarray(at - size, at)
    },
    cancel() {},
    release() {},
  }
}

test('chunks of any size are verified, and one body that fails or is cancelled leaves the others alone', async () => {
  const verification = startVerification()
  const bytes = randomBytes(6 * MIB)
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex') as Sha256
  const sizes = [1, 70_000, 2 * MIB, 3, 3 * MIB, MIB - 70_004]
  const differs = () => new Error('other bytes')
  const start = (failure: Error | null, expected = { size: bytes.length, sha256 }) =>
    verification.verified(
      chunksOf(bytes, failure === null ? sizes : sizes.slice(0, 3), failure),
      expected,
      differs,
    )
  async function lengths(chunks: SourceChunks): Promise<number[]> {
    const found: number[] = []
    for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next())
      found.push(chunk.length)
    return found
  }
  const other = { size: bytes.length, sha256: '0'.repeat(64) as Sha256 }
  const cancelled = start(null)
  await cancelled.next()
  const rest = cancelled.next()
  cancelled.cancel()
  const ended = await Promise.allSettled([
    ...Array.from({ length: 6 }, () => lengths(start(null))),
    lengths(start(new Error('away'))),
    lengths(start(null, other)),
    rest,
  ])
  const results = ended.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason)))
  expect(results).toEqual([...Array(6).fill(sizes), 'Error: away', 'Error: other bytes', null])
  verification.close()
})
