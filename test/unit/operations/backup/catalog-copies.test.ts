/** The two copies of a catalog: whatever happens to one of them, the other one counts. */
import { describe, expect, test } from 'bun:test'
import type { MarkCopy } from '../../../../src/blobs/blob-store.ts'
import { type Catalog, CatalogReader, sealCatalog } from '../../../../src/contents/backup-catalog.ts'
import { type BackupKey, makeKey } from '../../../../src/contents/backup-encryption.ts'
import { COPIES } from '../../../../src/contents/mark-copies.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'

const PASSPHRASE = 'correct horse battery staple'
const locked = await makeKey(PASSPHRASE)
const catalog: Catalog = {
  series: '0123456789ab',
  number: 7,
  mark: 'a mark',
  points: [],
  unswept: false,
  installation: 'an installation',
  doubted: [],
}

type Copies = Readonly<Partial<Record<MarkCopy, string | undefined>>>

/** With one passphrase, since a key is unlocked in a second. */
function readerFor(passphrase: string | null) {
  let present: Copies = {}
  const reader = new CatalogReader({ readMark: async (copy = 'mark') => present[copy] ?? null }, passphrase)
  return (copies: Copies) => {
    present = copies
    return reader.read()
  }
}
const reading = readerFor(PASSPHRASE)
const readingPlain = readerFor(null)

const kinds: readonly (readonly [string, BackupKey | null, string | null])[] = [
  ['a plain one', null, null],
  ['an encrypted one', locked, PASSPHRASE],
]

describe.each(kinds)('of the catalog of a backup, %s,', (_, key, passphrase) => {
  const whole = sealCatalog(catalog, key, null)
  const read = passphrase === null ? readingPlain : reading
  const harms: readonly (readonly [string, string | undefined])[] = [
    ['is missing', undefined],
    ['is empty', ''],
    ['is cut at its end', whole.slice(0, -1)],
    ['is cut in the middle', whole.slice(0, whole.length / 2)],
    ['is cut after its head', whole.slice(0, whole.indexOf('\n') + 1)],
    ['is followed by more', `${whole} `],
    ['is another text', 'the mark of a store'],
  ]

  test.each(COPIES)('%s may be harmed in any way, and is named', async (copy) => {
    for (const [harm, text] of harms) {
      const copies = { mark: whole, 'mark-copy': whole, [copy]: text }
      const found = await read(copies)
      expect({ harm, number: found?.catalog.number }).toEqual({ harm, number: 7 })
      expect({ harm, named: found?.faults.map((fault) => fault.copy) }).toEqual({ harm, named: [copy] })
    }
  })

  test('any byte may be another, and never counts', async () => {
    const bytes = Buffer.from(whole)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (bytes[at] ?? 0) ^ 1
      const copies = { mark: changed.toString(), 'mark-copy': undefined }
      await expect(readingPlain(copies)).rejects.toThrow('its catalog is lost')
    }
  })

  test('the higher number counts, whichever copy has it, and so does its series', async () => {
    const newer = sealCatalog({ ...catalog, series: 'ba9876543210', number: 8 }, key, null)
    for (const copies of [
      { mark: newer, 'mark-copy': whole },
      { mark: whole, 'mark-copy': newer },
    ]) {
      const found = await read(copies)
      expect(found).toMatchObject({ faults: [], isTwice: false })
      expect(found?.catalog).toMatchObject({ number: 8, series: 'ba9876543210' })
    }
  })
})

describe('who does not know the passphrase', () => {
  const sealed = sealCatalog(catalog, locked, null)
  const harmless = { faults: [{ copy: 'mark' }], catalog: { number: 7 } }
  const forged = { ...catalog, number: 99 }

  test('cannot write a copy that counts', async () => {
    const other = await makeKey('another passphrase')
    const theirs = { key: other.key, lockedKey: locked.lockedKey }
    const point = {
      takenAt: 1,
      key: makeBlobKey(systemRandom),
      size: 1,
      sha256: '',
      files: 1,
      contents: 1,
      bytes: 1,
      damaged: 0,
    }
    for (const mark of [
      sealCatalog(forged, theirs, null),
      sealCatalog(forged, other, null),
      sealCatalog({ ...forged, points: [point] }, null, null),
    ]) {
      expect(await reading({ mark, 'mark-copy': sealed })).toMatchObject(harmless)
      await expect(reading({ mark })).rejects.toThrow()
    }
  })

  test('is told that the backup is encrypted', async () => {
    await expect(readingPlain({ mark: sealed })).rejects.toThrow('HOLDFAST_BACKUP_PASSPHRASE_FILE')
    await expect(readerFor('another passphrase')({ mark: sealed })).rejects.toThrow(
      'not the one of this backup',
    )
  })
})

test('an empty plain catalog of higher number does not hide an encrypted one', async () => {
  const mark = sealCatalog({ ...catalog, number: 99 }, null, null)
  const sealed = sealCatalog(catalog, locked, null)
  const found = await reading({ mark, 'mark-copy': sealed })
  expect(found?.catalog.number).toBe(7)
})
