/** A second store that gets a copy of every content, and from which damaged ones are brought back. */
// Only in test:all: mirrors again and again; mirror-folder.test.ts has most of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { noteCopies, queueKeys } from '../../../../src/contents/mirror.rows.ts'
import { markDamaged } from '../../../../src/core/damage.rows.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'
import { deleteFile, textBytes, upload } from '../../../support/clients/public.ts'
import { keptLog } from '../../../support/kept-log.ts'
import { copyOf, type Mirrored, startMirrored, whole } from '../../../support/operations/mirrored.ts'
import { onCluster } from '../../../support/servers/holdfast.ts'
import { flipByte, storeOf } from '../../../support/storage/stored-contents.ts'

/** What is the same on every pair. */
const onOnePair = test.skipIf(onCluster)

let it: Mirrored
let key: string
const log = keptLog()
beforeAll(async () => {
  it = await startMirrored({}, undefined, log)
  key = (await it.host.addAccount('owner')).apiKey
})
afterAll(() => it.stop())

/** As `flipByte`, in the mirror. */
async function flipInMirror(copy: BlobKey): Promise<void> {
  const store = await it.store()
  const bytes = textBytes(await it.textOf(copy))
  bytes[0] = (bytes[0] ?? 0) ^ 1
  await store.remove(copy)
  const writer = await store.create(copy)
  await writer.write(bytes)
  await writer.complete()
}

const newKey = () => makeBlobKey(systemRandom)

const mark = ({ id, key: damaged }: Awaited<ReturnType<Mirrored['stored']>>) =>
  markDamaged(it.host.database, { id, key: damaged }, 'hash', it.host.clock.now())

test('a server copies what is uploaded, and brings back what a download has found', async () => {
  const lost = await it.stored('by itself')
  await it.host.cutBlob(lost.key, null)
  expect((await it.downloaded(lost)).status).toBe(500)
  const file = await upload(it.host, { bytes: textBytes('copied by itself') })
  await it.host.runJobs()
  expect(await it.downloaded(lost)).toEqual(whole('by itself'))
  expect(await it.textOf(copyOf(await it.rowOf(file.slug)))).toBe('copied by itself')
  const said = log.lines.flatMap(({ fields }) => (typeof fields.said === 'string' ? [fields.said] : []))
  expect(said).toEqual([`a damaged content was brought back from the mirror: content ${lost.key}`])
}, 120_000)

describe('copies', () => {
  onOnePair('are made of every content once, and one that is uploaded again keeps its own', async () => {
    const file = await it.stored('one content')
    const before = await it.copies()
    expect(await it.textOf(copyOf(file))).toBe('one content')
    expect(before).toContain(copyOf(file))
    const again = await it.stored('one content')
    expect(again.id).toBe(file.id)
    expect(again.key).not.toBe(file.key)
    expect(again.copy).toBe(file.copy)
    expect(await it.copies()).toEqual(before)
  })

  onOnePair('of large and of empty contents are whole', async () => {
    // Two of the large ones are more than goes together.
    const texts = ['large '.repeat(1_500_000), 'great '.repeat(1_500_000), '']
    const files = []
    for (const text of texts) files.push(await upload(it.host, { bytes: textBytes(text) }))
    expect((await it.keep()).lacking.count).toBe(0)
    for (const [index, { slug }] of files.entries()) {
      const text = await it.textOf(copyOf(await it.rowOf(slug)))
      expect(Bun.hash(text)).toBe(Bun.hash(texts[index] ?? 'none'))
    }
  })

  onOnePair('are not made of damaged bytes, which are marked', async () => {
    const file = await upload(it.host, { bytes: textBytes('damaged before it was copied') })
    const row = await it.rowOf(file.slug)
    await flipByte(it.host, row.key)
    await it.keep()
    expect(await it.rowOf(file.slug)).toMatchObject({ copy: null, isMarked: true })
    // There is nothing that it could be brought back from.
    expect(await it.downloaded(file)).toMatchObject({ status: 500, retryAfter: null })
    // The same content heals it, and is copied then.
    const again = await it.stored('damaged before it was copied')
    expect(again.isMarked).toBe(false)
    expect(await it.textOf(copyOf(again))).toBe('damaged before it was copied')
  })

  test('are removed a day after their content, and not while the database is behind its store', async () => {
    const { database, clock } = it.host
    const meta = database.updateTable('meta').where('key', '=', 'generation')
    const generation = await database
      .selectFrom('meta')
      .select('value')
      .where('key', '=', 'generation')
      .executeTakeFirstOrThrow()
    const file = await it.stored('deleted later', key)
    await deleteFile(it.host, key, file.slug)
    // Out of the bin, then out of the database. Without anything to do for the mirror no process is started for it.
    clock.advance(8 * DAY)
    await it.keep()
    await it.host.runJobs()
    await it.host.runJobs()
    await it.keep()
    clock.advance(DAY - HOUR)
    await it.keep()
    expect(await it.copies()).toContain(copyOf(file))
    clock.advance(HOUR + MINUTE)
    await meta.set({ value: '0' }).execute()
    await it.keep()
    expect(await it.copies()).toContain(copyOf(file))
    await meta.set({ value: generation.value }).execute()
    await it.keep()
    expect(await it.copies()).not.toContain(copyOf(file))
  })

  onOnePair('are noted only while their keys are queued for later', async () => {
    const { database, clock } = it.host
    const file = await upload(it.host, { bytes: textBytes('noted by hand') })
    const { id } = await it.rowOf(file.slug)
    const [unknown, soon, later] = [newKey(), newKey(), newKey()]
    await queueKeys(database, [soon], clock.now() + MINUTE)
    await queueKeys(database, [later], clock.now() + DAY)
    const note = (copy: BlobKey) =>
      noteCopies(database, [{ id, key: copy }], clock.now() + HOUR, async () => {})
    expect([await note(unknown), await note(soon), await note(later), await note(later)]).toEqual([
      0, 0, 1, 0,
    ])
    expect((await it.rowOf(file.slug)).copy).toBe(later)
    const queue = database.selectFrom('mirror_garbage').select('key').where('key', 'in', [soon, later])
    expect(await queue.execute()).toEqual([{ key: soon }])
    // That copy was never written.
    await database.updateTable('blobs').set({ mirrored_key: null }).where('id', '=', id).execute()
  })
})

describe('what is damaged', () => {
  test('is found by downloads, which say when to come again, and comes back whole', async () => {
    for (const length of [null, 3]) {
      const text = `to be cut to ${length}`
      const file = await it.stored(text)
      await it.host.cutBlob(file.key, length)
      const refused = { status: 500, text: '', retryAfter: '60' }
      expect(await it.downloaded(file)).toEqual(refused)
      expect(await it.rowOf(file.slug)).toMatchObject({ isMarked: true, key: file.key })
      expect(await it.downloaded(file, { method: 'HEAD' })).toEqual(refused)
      await it.keep()
      const row = await it.rowOf(file.slug)
      expect(row).toMatchObject({ isMarked: false, copy: file.copy })
      expect(row.key).not.toBe(file.key)
      expect(await (await storeOf(it.host)).size(row.key)).toBe(text.length)
      expect(await it.downloaded(file)).toEqual(whole(text))
    }
  })

  onOnePair('is not said to come back where there is no copy', async () => {
    const file = await upload(it.host, { bytes: textBytes('no copy yet') })
    const { key: blob } = await it.rowOf(file.slug)
    await it.host.cutBlob(blob, null)
    expect(await it.downloaded(file)).toMatchObject({ status: 500, retryAfter: null })
  })

  onOnePair('comes back when a check has marked it, and its old bytes go', async () => {
    const file = await it.stored('found by a check')
    await flipByte(it.host, file.key)
    await mark(file)
    await it.keep()
    const row = await it.rowOf(file.slug)
    expect(row).toMatchObject({ isMarked: false, copy: file.copy })
    expect(await it.downloaded(file)).toEqual(whole('found by a check'))
    it.host.clock.advance(2 * DAY)
    await it.keep()
    await it.host.runJobs()
    const store = await storeOf(it.host)
    expect([await store.size(file.key), await store.size(row.key)]).toEqual([null, 16])
  })

  onOnePair(
    'does not come back from a copy that is damaged too, which is forgotten and made anew',
    async () => {
      const text = 'damaged in the mirror'
      const file = await it.stored(text)
      await flipInMirror(copyOf(file))
      await flipByte(it.host, file.key)
      await mark(file)
      await it.keep()
      expect(await it.rowOf(file.slug)).toMatchObject({ isMarked: true, copy: null, key: file.key })
      const again = await it.stored(text)
      expect(await it.textOf(copyOf(again))).toBe(text)
      it.host.clock.advance(2 * DAY)
      await it.keep()
      expect(await it.copies()).not.toContain(copyOf(file))
    },
  )

  onOnePair('in the mirror is found by reading it, and made anew', async () => {
    const text = 'damaged there alone'
    const file = await it.stored(text)
    await flipInMirror(copyOf(file))
    const wrong = { wrongCopies: 1, wrong: [{ key: copyOf(file), reason: 'hash' as const }] }
    expect((await it.keep({ reads: 1, keeps: null })).read).toMatchObject(wrong)
    expect((await it.keep({ reads: 1 })).read).toMatchObject({ wrongCopies: 0 })
    expect(await it.textOf(copyOf(await it.rowOf(file.slug)))).toBe(text)
  })
})
