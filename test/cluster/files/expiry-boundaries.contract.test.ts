/** When files expire and their bytes go, to the millisecond, and what happens to a file between two looks at it. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type CompiledQuery, sql } from 'kysely'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import { changeTotals, ensureGuests, findAccount, setInactiveDays } from '../../../src/core/accounts.rows.ts'
import { discardBlob } from '../../../src/core/blobs.rows.ts'
import { createClockGuard } from '../../../src/core/core.ts'
import { type Database, isPostgres } from '../../../src/database/database.ts'
import { lockAccount } from '../../../src/database/differences.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/clock.ts'
import {
  type AccountId,
  type BlobKey,
  type FileId,
  GUESTS,
  type Sha256,
  type Uuid,
} from '../../../src/domain/ids.ts'
import { makeBlobKey, makeNodeId, makeSlug, systemRandom } from '../../../src/domain/random.ts'
import { type Cleaning, createCleaning } from '../../../src/files/blob-cleaning.job.ts'
import {
  type AccountGroup,
  accountsByMark,
  accountsToSearch,
  createExpiry,
  createInactivity,
  type Expiry,
  expiredHoldersQuery,
  firstUnused,
  type InactivityDays,
  ownInactiveDays,
} from '../../../src/files/expiry.ts'
import { changeFiles } from '../../../src/files/folders/folders.rows.ts'
import { setRemoved } from '../../../src/files/removals.ts'
import { Usage } from '../../../src/files/use-counters.ts'
import { adoptBlob } from '../../support/contents/account-with-file.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { type ContractDatabase, databases } from '../../support/databases/databases.ts'
import { eventually } from '../../support/eventually.ts'
import { type HandClock, handClock } from '../../support/hand-clock.ts'
import { buildParts, type TestParts } from '../../support/servers/parts.ts'
import { finishedBlobs, unfinishedBlobs } from '../../support/storage/blob-folder.ts'

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
  /** Runs once a search has read the time. */
  readonly settled: { run(): Promise<unknown> }
  addAccount(name: string, inactiveDays: number | null): Promise<AccountId>
  setDays(account: AccountId, inactiveDays: number | null): Promise<void>
  /** A file that was last used so many milliseconds ago, of the first account unless another is named. */
  addFile(unusedFor: number, account?: AccountId): Promise<FileId>
  /** Files and bytes of the first account, as it is told. */
  totals(): Promise<readonly unknown[]>
  /** Why the file was removed, null for a live one, and undefined when its row is gone. */
  removal(file: FileId): Promise<string | null | undefined>
}

async function scene(
  { db }: ContractDatabase,
  days: InactivityDays = { guests: 45, accounts: 45 },
): Promise<Scene> {
  const clock = handClock()
  await ensureGuests(db, systemRandom, clock.now())
  const accounts = createAccounts(db, clock, systemRandom)
  const setDays = (account: AccountId, own: number | null) =>
    inTransaction(db, (trx) => setInactiveDays(trx, account, own))
  const addAccount = async (name: string, own: number | null) => {
    const { id } = await accounts.add(name)
    await setDays(id, own)
    return id
  }
  const account = await addAccount('alice', null)
  const usage = new Usage(db, clock)
  const cleaning = createCleaning(
    db,
    { size, removeAll: async (keys) => [...keys], endForgotten },
    clock,
    () => {},
  )
  const lifetime = (lasts: number) => ({
    days: lasts,
    endOf: (usedAt: number) => usedAt + lasts * DAY,
    cutoff: (at = clock.now()) => at - lasts * DAY,
  })
  const inactivity = createInactivity({ lifetime }, days)
  const settled = { run: async () => {} }
  const outages = {
    async settle() {
      const at = clock.now()
      await settled.run()
      return at
    },
  }
  const guard = createClockGuard(clock)
  return {
    db,
    clock,
    account,
    settled,
    usage,
    cleaning,
    expiry: createExpiry({ db, cleaning, usage, clock, guard, outages, inactivity }),
    addAccount,
    setDays,
    async totals() {
      const row = await findAccount(db, account)
      return [row?.files_count, row?.storage_used]
    },
    addFile: (unusedFor, owner = account) =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, owner)
        const top = await trx
          .selectFrom('folders')
          .select('id')
          .where('account_id', '=', owner)
          .where('parent_id', 'is', null)
          .executeTakeFirstOrThrow()
        const key = makeBlobKey(systemRandom)
        const sha256 = key.padEnd(64, '0') as Sha256
        const blob = { key, sha256, crc32: 0, size: 5, created_at: 0 }
        const row = {
          uuid: crypto.randomUUID() as Uuid,
          slug: makeSlug(systemRandom),
          account_id: owner,
          folder_id: top.id,
          blob_id: await adoptBlob(trx, blob, 0),
          name: 'a file',
          name_folded: 'a file',
          name_sort: 'a file',
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
        await changeTotals(trx, owner, { files: 1, storage: row.size })
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
    const { db, clock, expiry, addFile, removal, totals } = await scene(database)
    const file = await addFile(LASTS)
    const before = await totals()
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
    expect(await totals()).toEqual(before)
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
      const { db, clock, account, expiry, addFile, removal, totals } = await scene(database)
      const file = await addFile(LASTS + 1)
      const before = await totals()
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
      expect(await totals()).toEqual(before)
    },
  )
})

describe.each(databases('inactivity'))('how long files stay that nobody uses, on %s,', (_, open) => {
  test('is what guests, accounts or one account are given, to the millisecond, and 0 days are for ever', async () => {
    await using database = await open()
    const { clock, account, expiry, addAccount, addFile, removal } = await scene(database, {
      guests: 3,
      accounts: 45,
    })
    const short = await addAccount('bob', 1)
    const long = await addAccount('carol', 90)
    const never = await addAccount('dora', 0)
    const days = new Map([
      [GUESTS, 3],
      [account, 45],
      [short, 1],
      [long, 90],
    ])
    const files = new Map<number, readonly FileId[]>()
    for (const [owner, own] of days) {
      files.set(own, [await addFile(own * DAY, owner), await addFile(own * DAY + 1, owner)])
    }
    const kept = await addFile(36_500 * DAY, never)
    await expiry.mark()
    for (const [own, [stays, goes]] of files) {
      expect([own, stays && (await removal(stays)), goes && (await removal(goes))]).toEqual([
        own,
        null,
        'expired',
      ])
    }
    clock.advance(10_000 * DAY)
    await expiry.mark()
    await expiry.purge()
    expect(await removal(kept)).toBe(null)
  })

  test.each([
    [{ guests: 0, accounts: 45 }, null, 'expired'],
    [{ guests: 45, accounts: 0 }, 'expired', null],
    [{ guests: 0, accounts: 0 }, null, null],
  ])('is for ever where the settings say so: %j', async (days, ofGuest, ofAccount) => {
    await using database = await open()
    const { expiry, addFile, removal } = await scene(database, days)
    const [guests, own] = [await addFile(LASTS + 1, GUESTS), await addFile(LASTS + 1)]
    await expiry.mark()
    expect([await removal(guests), await removal(own)]).toEqual([ofGuest, ofAccount])
  })

  test('changes at once with the days of an account, also for files that are hidden already', async () => {
    await using database = await open()
    const { clock, account, expiry, addFile, removal, setDays, totals } = await scene(database)
    const file = await addFile(40 * DAY)
    const changes = [
      [null, null],
      [39, 'expired'],
      [41, null],
      [40, null],
      [30, 'expired'],
      [0, null],
      [1, 'expired'],
      [null, null],
    ] as const
    for (const [days, after] of changes) {
      await setDays(account, days)
      await expiry.mark()
      expect([days, await removal(file)]).toEqual([days, after])
    }
    expect(await totals()).toEqual([1, 5])
    clock.advance(5 * DAY)
    await expiry.mark()
    expect(await removal(file)).toBe(null)
    clock.advance(1)
    await expiry.mark()
    expect(await removal(file)).toBe('expired')
  })

  test('holds for what is purged: nothing goes for good that got more days meanwhile', async () => {
    await using database = await open()
    const { db, clock, expiry, addAccount, addFile, removal } = await scene(database)
    clock.advance(DAY)
    const files: FileId[] = []
    for (const [name, days] of [
      ['short', 1],
      ['long', 90],
      ['never', 0],
    ] as const) {
      files.push(await addFile(LASTS + 1, await addAccount(name, days)))
    }
    const marked = files.map((id) => ({ id }))
    await inTransaction(db, (trx) => setRemoved(trx, marked, 'expired', clock.now() - DAY))
    await expiry.purge()
    expect(await Promise.all(files.map(removal))).toEqual([undefined, 'expired', 'expired'])
  })

  test('does not end a file that came after the clock was set back in the middle of a search', async () => {
    await using database = await open()
    const { db, clock, expiry, settled, addFile, removal } = await scene(database)
    const files: FileId[] = []
    settled.run = async () => {
      clock.leap(-LASTS - DAY)
      files.push(await addFile(0))
    }
    await expiry.mark()
    expect(await Promise.all(files.map(removal))).toEqual([null])
    expect(await db.selectFrom('changes').select('id').execute()).toEqual([])
  })

  test('is not longer for files that came after a time in which the clock was ahead', async () => {
    await using database = await open()
    const { clock, expiry, addFile, removal } = await scene(database)
    clock.leap(400 * DAY)
    await expiry.mark()
    clock.leap(-400 * DAY)
    const file = await addFile(0)
    await expiry.mark()
    clock.advance(LASTS)
    await expiry.mark()
    expect(await removal(file)).toBe(null)
    clock.advance(1)
    await expiry.mark()
    expect(await removal(file)).toBe('expired')
  })

  test('costs no search in accounts whose files stay, nor in any twice, and finds more files than a step', async () => {
    await using database = await open()
    const { db, clock, account, expiry, addAccount, addFile, removal } = await scene(database, {
      guests: 0,
      accounts: 45,
    })
    const archive = await addAccount('archive', 0)
    await addFile(1000 * DAY, GUESTS)
    await addFile(1000 * DAY, archive)
    const long = await addAccount('long', 90)
    await addFile(80 * DAY, long)
    const gone: FileId[] = []
    for (let file = 0; file < 101; file++) gone.push(await addFile(LASTS + 1 + file))
    const searched = async () => {
      const found: AccountId[] = []
      const groups: AccountGroup[] = [null, ...(await ownInactiveDays(db))]
      const at = { latest: clock.now() - HOUR }
      for (const group of groups) {
        const cutoff = clock.now() - (group === 'guests' ? 0 : (group ?? 45)) * DAY
        found.push(...(await accountsToSearch(db, group, { ...at, cutoff }, 1000)))
      }
      return found
    }
    expect((await searched()).toSorted()).toEqual([account, long].toSorted())
    await expiry.mark()
    expect(await Promise.all(gone.map(removal))).toEqual(gone.map(() => 'expired'))
    expect(await searched()).toEqual([])
    clock.advance(9 * DAY)
    expect(await searched()).toEqual([])
    clock.advance(2 * DAY)
    expect(await searched()).toEqual([long])
  })

  test('is found by indexes alone', async () => {
    await using database = await open()
    const { db, clock, account, addAccount, addFile } = await scene(database)
    const archive = await addAccount('archive', 0)
    await addCopies(db, await addFile(1000 * DAY, archive), 2000)
    const busy = await addAccount('busy', null)
    await addCopies(db, await addFile(DAY, busy), 2000)
    const cutoff = clock.now() - LASTS
    const expired = await addFile(1000 * DAY)
    await inTransaction(db, (trx) => setRemoved(trx, [{ id: expired }], 'expired', clock.now()))
    await addCopies(db, expired, 2000)
    if (isPostgres(db)) await sql`analyze files`.execute(db)
    const queries: readonly (readonly [CompiledQuery, readonly string[]])[] = [
      [accountsByMark(db, null, '<', 1000, 100).compile(), ['accounts_unused']],
      [accountsByMark(db, 30, '<', 1000, 100).compile(), ['accounts_unused']],
      [accountsByMark(db, null, '>', 1000, 100).compile(), ['accounts_unused']],
      [firstUnused(db, [account, busy], cutoff, 100).compile(), ['files_unused_of_account']],
      [expiredHoldersQuery().compile(db), ['files_expired_of_account']],
    ]
    for (const [query, indexes] of queries) {
      const plan = await planOf(db, query)
      for (const index of indexes) expect(plan).toContain(index)
      expect(plan).not.toMatch(/SCAN (files|accounts)\b(?! USING (COVERING )?INDEX)|Seq Scan on files/)
    }
  })
})

/** PostgreSQL would rather read so few rows whole; where it cannot do without, it still says so. */
function planOf(db: Database, query: CompiledQuery): Promise<string> {
  return inTransaction(db, async (trx) => {
    if (isPostgres(trx)) await sql`set local enable_seqscan = off`.execute(trx)
    const explain = isPostgres(trx) ? 'explain' : 'explain query plan'
    const { rows } = await trx.executeQuery({ ...query, sql: `${explain} ${query.sql}` })
    return JSON.stringify(rows)
  })
}

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
