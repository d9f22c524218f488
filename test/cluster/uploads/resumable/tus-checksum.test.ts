/** The checksum extension. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chance } from '../../../support/chance.ts'
import { newcomer, refusal } from '../../../support/clients/api.ts'
import { readBack, sha256 } from '../../../support/clients/caller.ts'
import { type Tus, tus } from '../../../support/clients/tus.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const random = chance(6)

let client: Tus
const holdfast = await hostOfFile()
beforeAll(async () => {
  client = tus(await newcomer(holdfast))
})

const digest = (algorithm: 'sha1' | 'sha256', bytes: Uint8Array) =>
  new Bun.CryptoHasher(algorithm).update(bytes).digest('base64')

/** What the three algorithms say of "123456789"; that of CRC-32C is the check value of its catalogues, 0xE3069283. */
const CHECKED = Buffer.from('123456789')
const CHECKSUMS = [
  ['sha1', digest('sha1', CHECKED)],
  ['sha256', digest('sha256', CHECKED)],
  ['crc32c', Buffer.from('e3069283', 'hex').toString('base64')],
] as const

describe.each(CHECKSUMS)('a checksum by %s', (algorithm, checksum) => {
  test('that is right lets the bytes in', async () => {
    const { path, slug } = await client.start(9)
    const answer = await client.patch(path, 0, new Uint8Array(CHECKED), {
      'upload-checksum': `${algorithm} ${checksum}`,
    })
    expect(answer.status).toBe(204)
    expect(await readBack(holdfast.url, slug)).toEqual({ size: 9, sha256: sha256(CHECKED) })
  })

  test('that is wrong is 460, and none of the bytes is kept', async () => {
    const { path, slug } = await client.start(12)
    await client.patch(path, 0, new Uint8Array(Buffer.from('abc')))
    const wrong = new Uint8Array(Buffer.from('123456780'))
    const headers = { 'upload-checksum': `${algorithm} ${checksum}` }
    expect(await client.patch(path, 3, wrong, headers)).toMatchObject(refusal('CHECKSUM_MISMATCH'))
    expect(await client.offset(path)).toBe(3)
    expect((await client.patch(path, 3, new Uint8Array(CHECKED), headers)).status).toBe(204)
    expect(await readBack(holdfast.url, slug)).toEqual({
      size: 12,
      sha256: sha256(Buffer.from('abc123456789')),
    })
  })
})

describe('a checksum of the bytes that come with the creation', () => {
  const create = (content: Buffer) =>
    client.create(
      { 'upload-length': '12', 'upload-checksum': `sha256 ${digest('sha256', CHECKED)}` },
      new Uint8Array(content),
    )

  test('that is right lets them in', async () => {
    const answer = await create(CHECKED)
    expect(answer).toMatchObject({ status: 201, body: { received: 9 } })
    expect(answer.headers.get('upload-offset')).toBe('9')
  })

  test('that is wrong is 460 with the address, where none of them is kept', async () => {
    const answer = await create(Buffer.from('123456780'))
    expect(answer).toMatchObject(refusal('CHECKSUM_MISMATCH'))
    const path = answer.headers.get('location') ?? ''
    expect(await client.offset(path)).toBe(0)
    expect((await client.patch(path, 0, new Uint8Array(CHECKED))).status).toBe(204)
  })
})

test('a checksum by an unknown algorithm, or one that is none, is 400', async () => {
  const { path } = await client.start(1)
  for (const header of [
    'md5 AAAA',
    'sha1',
    'sha1 AAAA',
    'crc32c !!!!',
    `sha256 ${digest('sha1', CHECKED)}`,
  ]) {
    const answer = await client.patch(path, 0, random.bytes(1), { 'upload-checksum': header })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
  }
  expect(await client.offset(path)).toBe(0)
})
