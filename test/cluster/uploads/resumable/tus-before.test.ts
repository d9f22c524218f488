/** What lies before the offset of an upload, by which clients tell whether they have the same file. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chance } from '../../../support/chance.ts'
import { newcomer } from '../../../support/clients/api.ts'
import { readBack, sha256 } from '../../../support/clients/caller.ts'
import { type Tus, tus } from '../../../support/clients/tus.ts'
import { startInParts } from '../../../support/clients/tus-parts.ts'
import { eventually } from '../../../support/eventually.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const KIB = 1024
const MIB = 1024 * KIB
const MOST = 64 * KIB

const random = chance(78)
const holdfast = await hostOfFile()
let client: Tus
beforeAll(async () => {
  client = tus(await newcomer(holdfast))
})

/** The answer to a question for so many bytes. */
async function asked(path: string, bytes: number | string = MOST) {
  const { status, headers } = await client.head(path, { 'holdfast-before': String(bytes) })
  return { status, offset: headers.get('upload-offset'), before: headers.get('holdfast-before') }
}

/** What the answer has to be. */
function before(content: Uint8Array, offset: number, length = MOST) {
  const bytes = content.subarray(Math.max(0, offset - length), offset)
  return { status: 200, offset: String(offset), before: `${bytes.length} ${sha256(bytes)}` }
}

describe('likeness taken for identity: what an upload holds before its offset', () => {
  const content = random.bytes(300 * KIB)

  test('is told as a hash, of as many bytes as there are and are asked for', async () => {
    const { path, slug } = await client.start(content.length)
    expect(await asked(path)).toEqual({ status: 200, offset: '0', before: null })
    let offset = 0
    for (const end of [1, 1000, MOST, MOST + 1, 200 * KIB]) {
      await client.patch(path, offset, content.slice(offset, end))
      offset = end
      expect(await asked(path)).toEqual(before(content, end))
      expect(await asked(path, 100)).toEqual(before(content, end, 100))
    }
    expect((await client.head(path)).headers.get('holdfast-before')).toBeNull()
    await client.patch(path, offset, content.slice(offset))
    expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
  })

  test('is told where a part of the store is full just there, and the upload goes on from there', async () => {
    // S3 has parts of 8 MiB, and only what is behind the last one can be read as it is.
    const large = random.bytes(17 * MIB)
    for (const end of [8 * MIB, 16 * MIB, 16 * MIB + 100]) {
      const { path, slug } = await client.start(large.length)
      await client.patch(path, 0, large.slice(0, end))
      expect(await asked(path)).toEqual(before(large, end))
      await client.patch(path, end, large.slice(end))
      expect(await readBack(holdfast.url, slug)).toEqual({ size: large.length, sha256: sha256(large) })
    }
  }, 60_000)

  test('is told of parts, whole or not, and not of the upload that is made of them', async () => {
    const { path, parts, send, slug } = await startInParts(client, content.length, 100 * KIB)
    await send(content, 0, 100 * KIB)
    await send(content, 100 * KIB, 190 * KIB)
    expect(await asked(parts[0] ?? '')).toEqual(before(content.subarray(0, 100 * KIB), 100 * KIB))
    expect(await asked(parts[1] ?? '')).toEqual(before(content.subarray(100 * KIB), 90 * KIB))
    expect(await asked(parts[2] ?? '')).toMatchObject({ before: null })
    expect(await asked(path)).toMatchObject({ status: 200, before: null })
    await send(content, 190 * KIB, 200 * KIB)
    await send(content, 200 * KIB, content.length)
    await eventually('it is joined', async () =>
      JSON.stringify((await client.look(path)).body).includes('"completed"'),
    )
    expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
  })

  test('is not told of more than 64 KiB, nor of what is no number', async () => {
    const { path } = await client.start(content.length)
    await client.patch(path, 0, content.slice(0, 1000))
    for (const bytes of [0, MOST + 1, -1, '1.5', 'all', '99999999999']) {
      expect((await asked(path, bytes)).status).toBe(400)
    }
  })

  test('is told to a hundred who ask at once', async () => {
    const { path } = await client.start(content.length)
    await client.patch(path, 0, content.slice(0, 100 * KIB))
    const answers = await Promise.all(Array.from({ length: 100 }, () => asked(path)))
    expect(answers).toEqual(answers.map(() => before(content, 100 * KIB)))
  })
})
