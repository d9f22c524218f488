/** Marks on damaged contents, on SQLite and PostgreSQL. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { dueGarbage, releaseBlob } from '../../../src/core/blobs.rows.ts'
import {
  countDamaged,
  damagedContents,
  isDamaged,
  markDamaged,
  markVerified,
  oldestUnverified,
  replaceCopy,
  type StoredCopy,
} from '../../../src/core/damage.rows.ts'
import { claimThumbnail, noteThumbnails } from '../../../src/core/thumbnails.rows.ts'
import { type Database, isPostgres } from '../../../src/database/database.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import type { BlobKey, NodeId, Sha256 } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { adoptBlob } from '../../support/contents/account-with-file.ts'
import { databases } from '../../support/databases/databases.ts'

const contentOf = (letter: string) => ({ sha256: letter.repeat(64) as Sha256, crc32: 0, size: 3 })

async function store(db: Database, letter: string, at: number): Promise<StoredCopy> {
  const key = makeBlobKey(systemRandom)
  const blob = { key, ...contentOf(letter), created_at: at }
  return { id: await inTransaction(db, (trx) => adoptBlob(trx, blob, at)), key }
}

const marks = async (db: Database) =>
  (await damagedContents(db, null, 10)).map(({ id, damage, damaged_at }) => [id, damage, damaged_at])

describe.each(databases('marks of damage'))('marks on %s', (_name, open) => {
  test('are on one copy, keep their first time, and go with the next copy or a good look', async () => {
    await using database = await open()
    const { db } = database
    const a = await store(db, 'a', 1)
    const b = await store(db, 'b', 2)
    expect(await markDamaged(db, a, 'size', 10)).toBe(true)
    expect(await markDamaged(db, a, 'missing', 20)).toBe(true)
    expect(await markDamaged(db, b, 'hash', 20)).toBe(true)
    expect(await marks(db)).toEqual([
      [a.id, 'missing', 10],
      [b.id, 'hash', 20],
    ])
    expect(await countDamaged(db)).toBe(2)
    expect(await damagedContents(db, a.id, 10)).toMatchObject([{ id: b.id, key: b.key, size: 3 }])

    const again = await store(db, 'a', 30)
    expect(again.id).toBe(a.id)
    expect(await marks(db)).toEqual([[b.id, 'hash', 20]])
    expect(await markDamaged(db, a, 'hash', 40)).toBe(false)
    await markVerified(db, [b, a], 50)
    expect(await marks(db)).toEqual([])
    expect(await markDamaged(db, b, 'hash', 60)).toBe(true)
    expect(await marks(db)).toEqual([[b.id, 'hash', 60]])
    await inTransaction(db, (trx) => releaseBlob(trx, b.id, 60))
    expect(await countDamaged(db)).toBe(0)
    expect(await markDamaged(db, b, 'hash', 70)).toBe(false)
  })

  test('are found by the index of marked copies, however many others there are', async () => {
    await using database = await open()
    const { rows } = await inTransaction(database.db, async (trx) => {
      if (isPostgres(trx)) await sql`set local enable_seqscan = off`.execute(trx)
      const explained = sql.raw(isPostgres(trx) ? 'explain' : 'explain query plan')
      return sql`${explained} select id from blobs where ${isDamaged(trx)}`.execute(trx)
    })
    expect(JSON.stringify(rows)).toContain('damaged_blobs')
  })

  test('go when other bytes are put in the place of the copy, unless somebody was faster', async () => {
    await using database = await open()
    const { db } = database
    const a = await store(db, 'a', 1)
    await markDamaged(db, a, 'missing', 10)
    const healed = 'f'.repeat(32) as BlobKey
    const replace = (by: BlobKey) => inTransaction(db, (trx) => replaceCopy(trx, a, by, 20, 30))
    expect(await replace(healed)).toBe(true)
    expect(await marks(db)).toEqual([])
    expect(await dueGarbage(db, 30, 10)).toEqual([a.key])
    expect(await replace(makeBlobKey(systemRandom))).toBe(false)
    const { key } = await db.selectFrom('blobs').select('key').executeTakeFirstOrThrow()
    expect(key).toBe(healed)
  })

  test('leave the contents that nobody has read for longest at the head', async () => {
    await using database = await open()
    const { db } = database
    const [a, b, c] = [await store(db, 'a', 1), await store(db, 'b', 2), await store(db, 'c', 3)]
    const heads = async (before = 100) => (await oldestUnverified(db, before, 10)).map(({ since }) => since)
    expect(await heads()).toEqual([1, 2, 3])
    await markVerified(db, [a, b], 50)
    expect(await oldestUnverified(db, 100, 1)).toMatchObject([{ ...c, since: 3, size: 3 }])
    expect(await heads()).toEqual([3, 50, 50])
    expect(await heads(50)).toEqual([3])
    // A new copy has to be read by its own age.
    await store(db, 'a', 70)
    expect(await heads()).toEqual([3, 50, 70])
  })

  test('keep thumbnails from being made of damaged bytes', async () => {
    await using database = await open()
    const { db } = database
    const node = 'node' as NodeId
    const turns = { least: 0, most: 1, last: -1 }
    const a = await store(db, 'a', 1)
    await inTransaction(db, (trx) =>
      noteThumbnails(trx, [{ blob_id: a.id, state: 'wanted', turn: 1, due_at: 1 }]),
    )
    await markDamaged(db, a, 'hash', 2)
    expect(await claimThumbnail(db, node, 3, turns)).toBeNull()
    await markVerified(db, [a], 4)
    expect(await claimThumbnail(db, node, 5, turns)).toMatchObject({ blob: a.id })
  })
})
