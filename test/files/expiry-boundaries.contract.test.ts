/** When files expire and their bytes go, to the millisecond, and what happens to a file between two looks at it. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createAccounts } from '../../src/accounts/accounts.ts'
import { changeTotals, findAccount } from '../../src/core/accounts.rows.ts'
import { adoptBlob, discardBlob } from '../../src/core/blobs.rows.ts'
import { createClockGuard } from '../../src/core/clock-guard.ts'
import type { Database } from '../../src/database/database.ts'
import { isPostgres } from '../../src/database/dialect.ts'
import { lockAccount } from '../../src/database/differences.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import { DAY, MINUTE } from '../../src/domain/clock.ts'
import type { AccountId, BlobKey, FileId, Sha256, Uuid } from '../../src/domain/ids.ts'
import { makeBlobKey, makeNodeId, makeSlug, systemRandom } from '../../src/domain/random.ts'
import { type Cleaning, createCleaning } from '../../src/files/blob-cleaning.job.ts'
import { createExpiry, type Expiry } from '../../src/files/expiry.job.ts'
import { setRemoved } from '../../src/files/file-removal.rows.ts'
import { changeFiles } from '../../src/files/folders/folders.rows.ts'
import { createUsage, type Usage } from '../../src/files/use-counters.ts'
import { type ContractDatabase, databases } from '../support/databases/databases.ts'
import { eventually } from '../support/eventually.ts'
import { type HandClock, handClock } from '../support/hand-clock.ts'
import { buildParts, type TestParts } from '../support/servers/parts.ts'
import { finishedBlobs, unfinishedBlobs } from '../support/storage/blob-folder.ts'

/** Of any blob. */
const size = async () => null
const endForgotten = async () => {}

const LASTS = 45 * DAY

interface Scene {
  readonly db: Database
  readonly clock: HandClock
  readonly cleaning: Cleaning
  readonly expiry: Expiry
  readonly usage: Usage
  readonly account: AccountId
  /** A file of the account that was last used so many milliseconds ago. */
  addFile(unusedFor: number): Promise<FileId>
  /** Why the file was removed, null for a live one, and undefined when its row is gone. */
  removal(file: FileId): Promise<string | null | undefined>
}

async function scene({ db }: ContractDatabase): Promise<Scene> {
  const clock = handClock()
  const { id } = await createAccounts(db, clock, systemRandom).add('alice')
  const account = id as AccountId
  const top = await db
    .selectFrom('folders')
    .select('id')
    .where('account_id', '=', account)
    .where('parent_id', 'is', null)
    .executeTakeFirstOrThrow()
  const usage = createUsage(db, clock)
  const cleaning = createCleaning(
    db,
    { size, removeAll: async (keys) => [...keys], endForgotten },
    clock,
    () => {},
  )
  const lifetime = {
    days: 45,
    endOf: (usedAt: number) => usedAt + LASTS,
    cutoff: (at = clock.now()) => at - LASTS,
  }
  const outages = { settle: async () => clock.now() }
  const guard = createClockGuard(clock)
  return {
    db,
    clock,
    account,
    usage,
    cleaning,
    expiry: createExpiry({ db, cleaning, usage, clock, guard, outages, lifetime }),
    addFile: (unusedFor) =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        const key = makeBlobKey(systemRandom)
        const sha256 = key.padEnd(64, '0') as Sha256
        const blob = { key, sha256, crc32: 0, size: 5, created_at: 0 }
        const row = {
          uuid: crypto.randomUUID() as Uuid,
          slug: makeSlug(systemRandom),
          account_id: account,
          folder_id: top.id,
          blob_id: await adoptBlob(trx, blob, 0),
          name: 'a file',
          name_folded: 'a file',
          size: 5,
          type: 'text/plain',
          created_at: 0,
          last_used_at: clock.now() - unusedFor,
          removed_at: null,
          removal: null,
        }
        const { id: file } = await trx
          .insertInto('files')
          .values(row)
          .returning('id')
          .executeTakeFirstOrThrow()
        await changeTotals(trx, account, { files: 1, storage: row.size })
        await changeFiles(trx, top.id, 1, row.size)
        return file
      }),
    async removal(file) {
      const row = await db.selectFrom('files').select('removal').where('id', '=', file).executeTakeFirst()
      return row?.removal
    },
  }
}

/** Waits until a transaction waits for another one; SQLite lets none begin meanwhile. */
async function eventuallyWaits(db: Database): Promise<void> {
  if (!isPostgres(db)) return
  await eventually('a transaction waits for a lock', async () => {
    const { rows } = await sql<{ n: string }>`
      select count(*) as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    return Number(rows[0]?.n) > 0
  })
}

describe.each(databases('expiry'))('a file on %s', (_, open) => {
  test('expires a millisecond after its last moment, and is there again at it', async () => {
    await using database = await open()
    const { db, clock, account, expiry, addFile, removal } = await scene(database)
    const file = await addFile(LASTS)
    const before = await findAccount(db, account)
    await expiry.mark()
    expect(await removal(file)).toBe(null)
    // It was not hidden in between either.
    expect(await db.selectFrom('changes').select('id').execute()).toEqual([])
    clock.advance(1)
    await expiry.mark()
    expect(await removal(file)).toBe('expired')
    await expiry.mark()
    expect(await removal(file)).toBe('expired')
    clock.leap(-1)
    await expiry.mark()
    expect(await removal(file)).toBe(null)
    expect(await findAccount(db, account)).toEqual(before)
  })

  test('that was deleted or put into the bin is not brought back for having been used', async () => {
    await using database = await open()
    const { db, clock, expiry, addFile, removal } = await scene(database)
    const removals = ['deleted', 'binned', 'folder binned'] as const
    const files: FileId[] = []
    for (const each of removals) {
      const file = await addFile(0)
      await inTransaction(db, (trx) => setRemoved(trx, [{ id: file }], each, clock.now()))
      files.push(file)
    }
    await expiry.mark()
    expect(await Promise.all(files.map(removal))).toEqual([...removals])
  })

  test('that was looked at a moment ago stays, though that is not written yet', async () => {
    await using database = await open()
    const { expiry, usage, addFile, removal } = await scene(database)
    const [used, unused] = [await addFile(LASTS + 1), await addFile(LASTS + 1)]
    usage.fileUsed(used, null)
    await expiry.mark()
    expect([await removal(used), await removal(unused)]).toEqual([null, 'expired'])
  })

  test('goes for good a day after its mark, once the clock was right for a day', async () => {
    await using database = await open()
    const { db, clock, expiry, addFile, removal } = await scene(database)
    const [file, marked] = [await addFile(LASTS + 1), await addFile(LASTS + 1)]
    await inTransaction(db, (trx) => setRemoved(trx, [{ id: marked }], 'expired', clock.now() - DAY))
    clock.advance(DAY - 1)
    await expiry.purge()
    // Marked long ago, but the clock has not been right for a day.
    expect(await removal(marked)).toBe('expired')
    await expiry.mark()
    clock.advance(1)
    await expiry.purge()
    expect(await removal(marked)).toBe(undefined)
    clock.advance(DAY - 2)
    await expiry.purge()
    expect(await removal(file)).toBe('expired')
    clock.advance(1)
    await expiry.purge()
    expect(await removal(file)).toBe(undefined)
  })

  test('does not go for good while it was used since, to the millisecond', async () => {
    await using database = await open()
    const { db, clock, expiry, addFile, removal } = await scene(database)
    clock.advance(DAY)
    const [used, unused] = [await addFile(LASTS), await addFile(LASTS + 1)]
    const files = [used, unused].map((id) => ({ id }))
    await inTransaction(db, (trx) => setRemoved(trx, files, 'expired', clock.now() - DAY))
    await expiry.purge()
    expect([await removal(used), await removal(unused)]).toEqual(['expired', undefined])
  })

  test('goes for good only when it has expired or was deleted, not out of the bin', async () => {
    await using database = await open()
    const { db, clock, cleaning, expiry, addFile, removal } = await scene(database)
    clock.advance(DAY)
    const file = await addFile(LASTS + 1)
    for (const binned of ['binned', 'folder binned'] as const) {
      await inTransaction(db, (trx) => setRemoved(trx, [{ id: file }], binned, clock.now() - DAY))
      await expiry.purge()
      await cleaning.purgeDeleted()
      expect(await removal(file)).toBe(binned)
    }
    await inTransaction(db, (trx) => setRemoved(trx, [{ id: file }], 'deleted', clock.now()))
    await cleaning.purgeDeleted()
    expect(await removal(file)).toBe(undefined)
  })

  const meanwhile = [
    ['is used', (clock: HandClock) => ({ last_used_at: clock.now() }), null],
    ['is deleted', () => ({ removed_at: 1, removal: 'deleted' as const }), 'deleted'],
  ] as const
  test.each(meanwhile)(
    'that %s while its account is waited for does not expire',
    async (_, change, after) => {
      await using database = await open()
      const { db, clock, account, expiry, addFile, removal } = await scene(database)
      const file = await addFile(LASTS + 1)
      const before = await findAccount(db, account)
      const [holds, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const holding = inTransaction(database.another(), async (trx) => {
        await lockAccount(trx, account)
        await trx.updateTable('files').set(change(clock)).where('id', '=', file).execute()
        holds.resolve()
        await ends.promise
      })
      await holds.promise
      const marking = expiry.mark()
      await eventuallyWaits(db)
      ends.resolve()
      await Promise.all([holding, marking])
      expect(await removal(file)).toBe(after)
      expect(await findAccount(db, account)).toEqual(before)
    },
  )
})

describe('the bytes of a deleted file', () => {
  test('stay for a minute for those who are still reading them, to the millisecond', async () => {
    await using parts = await buildParts()
    const clock = handClock()
    const cleaning = createCleaning(parts.db, parts.blobs, clock, (error) => parts.reported.push(error))
    const { id } = await parts.store('hello', 'gone.txt')
    await parts.removals.files(parts.caller, [{ kind: 'id', id }])
    await cleaning.purgeDeleted()
    await cleaning.removeGarbage()
    expect(finishedBlobs(parts.folder)).toHaveLength(1)
    clock.advance(MINUTE - 1)
    await cleaning.removeGarbage()
    expect(finishedBlobs(parts.folder)).toHaveLength(1)
    clock.advance(1)
    await cleaning.removeGarbage()
    expect(finishedBlobs(parts.folder)).toEqual([])
    expect(await parts.db.selectFrom('blob_garbage').select('key').execute()).toEqual([])
    expect(parts.reported).toEqual([])
  })
})

describe('bytes that a dead node was writing', () => {
  /** Reservations of a dead node: of bytes that a file has, and of bytes that none has. */
  async function deadUploads({ db, caller, store, folder }: TestParts) {
    await store('hello', 'kept.txt')
    const { key: stored } = await db.selectFrom('blobs').select('key').executeTakeFirstOrThrow()
    const left = makeBlobKey(systemRandom)
    await Bun.write(join(folder, 'blobs/tmp', left), 'left')
    const dead = { account_id: caller.account, bytes: 0, created_at: 0, node: makeNodeId(systemRandom) }
    await db
      .insertInto('reservations')
      .values([stored, left].map((key) => ({ ...dead, key })))
      .execute()
    return { stored, left }
  }
  const reserved = ({ db }: TestParts) => db.selectFrom('reservations').select('key').execute()
  const garbage = ({ db }: TestParts) => db.selectFrom('blob_garbage').selectAll().execute()

  test('go after a minute, in which it may notice, and never those of a file', async () => {
    await using parts = await buildParts()
    const clock = handClock()
    const { left } = await deadUploads(parts)
    await createCleaning(parts.db, parts.blobs, clock, (error) => parts.reported.push(error)).sweepDead()
    expect(await reserved(parts)).toEqual([])
    expect(await garbage(parts)).toEqual([{ key: left, due_at: clock.now() + MINUTE }])
  })

  test('go at once when a node starts that is alone, and never those of a file', async () => {
    await using parts = await buildParts()
    const { stored } = await deadUploads(parts)
    await parts.cleaning.afterStart()
    expect(await reserved(parts)).toEqual([])
    expect(await garbage(parts)).toEqual([])
    expect(finishedBlobs(parts.folder)).toEqual([stored])
    expect(unfinishedBlobs(parts.folder)).toEqual([])
    expect(parts.reported).toEqual([])
  })
})

test('bytes that go stay where nothing may be removed, as with a database that was restored', async () => {
  await using parts = await buildParts()
  const [due, left] = [makeBlobKey(systemRandom), makeBlobKey(systemRandom)]
  const { clock, db } = parts
  const never = { isAllowed: async () => false }
  const removed: BlobKey[] = []
  const removeAll = async (keys: readonly BlobKey[]) => {
    removed.push(...keys)
    return [...keys]
  }
  const cleaning = createCleaning(
    db,
    { size, removeAll, endForgotten },
    clock,
    (error) => parts.reported.push(error),
    never,
  )
  await discardBlob(db, due, 0)
  await db
    .insertInto('reservations')
    .values({
      key: left,
      account_id: parts.caller.account,
      bytes: 0,
      created_at: 0,
      node: makeNodeId(systemRandom),
    })
    .execute()
  await cleaning.afterStart()
  await cleaning.removeGarbage()
  expect(removed).toEqual([])
  const garbage = await db.selectFrom('blob_garbage').select('key').execute()
  expect(garbage.map(({ key }) => key).sort()).toEqual([due, left].sort())
})

test('bytes that cannot be removed are tried again after a minute', async () => {
  await using parts = await buildParts()
  const clock = handClock()
  const key = makeBlobKey(systemRandom)
  await discardBlob(parts.db, key, clock.now())
  const refusing = {
    size,
    endForgotten,
    async removeAll(keys: readonly unknown[], failed: (error: unknown) => void) {
      for (const _ of keys) failed(new Error('not now'))
      return []
    },
  }
  await createCleaning(parts.db, refusing, clock, (error) => parts.reported.push(error)).removeGarbage()
  expect(await parts.db.selectFrom('blob_garbage').selectAll().execute()).toEqual([
    { key, due_at: clock.now() + MINUTE },
  ])
  expect(parts.reported).toHaveLength(1)
})
