// Only in test:all: thousands of folders; deletes.test.ts has some.
import { describe, expect, test } from 'bun:test'
import { createAccounts } from '../../../../src/accounts/accounts.ts'
import { createOwnAccount } from '../../../../src/accounts/own-account.ts'
import { createReauthentication } from '../../../../src/accounts/sign-in/reauthentication.ts'
import { createSessions } from '../../../../src/accounts/sign-in/sessions.ts'
import { openDiskBlobs } from '../../../../src/blobs/disk.ts'
import { changeTotals, findAccount } from '../../../../src/core/accounts.rows.ts'
import type { SessionCaller } from '../../../../src/core/callers.ts'
import { createClockGuard } from '../../../../src/core/core.ts'
import { createOutages } from '../../../../src/core/outages.ts'
import { createSharedRateLimits } from '../../../../src/core/rate-limits/shared-rate-limits.ts'
import type { Database } from '../../../../src/database/database.ts'
import { lockAccount } from '../../../../src/database/differences.ts'
import { inTransaction } from '../../../../src/database/transactions.ts'
import { type Actor, SCOPES } from '../../../../src/domain/access.ts'
import { DAY } from '../../../../src/domain/clock.ts'
import type {
  AccountId,
  BinEntryId,
  FileId,
  FolderIdentifier,
  FolderPlace,
  SessionId,
  Sha256,
  Slug,
} from '../../../../src/domain/ids.ts'
import { makeBlobKey, makeSlug, makeUuid, systemRandom } from '../../../../src/domain/random.ts'
import { countBin, findBinEntry } from '../../../../src/files/bin/bin.rows.ts'
import { createBin } from '../../../../src/files/bin/bin.ts'
import { createBinEmptying } from '../../../../src/files/bin/bin-emptying.ts'
import { beginReturn, createBinRestoring } from '../../../../src/files/bin/bin-restoring.ts'
import { createCleaning } from '../../../../src/files/blob-cleaning.job.ts'
import { createExpiry, createInactivity } from '../../../../src/files/expiry.ts'
import { createFileLists, createFiles, type FileListQuery } from '../../../../src/files/files.ts'
import { createFolderClearing } from '../../../../src/files/folders/folder-clearing.ts'
import { changeFiles, isClearing } from '../../../../src/files/folders/folders.rows.ts'
import { createFolders } from '../../../../src/files/folders/folders.ts'
import { resolvePlace } from '../../../../src/files/folders/places.ts'
import { createRemovals } from '../../../../src/files/removals.ts'
import { Usage } from '../../../../src/files/use-counters.ts'
import { createOutbox } from '../../../../src/mail/outbox.ts'
import { adoptBlob, insertFile } from '../../../support/contents/account-with-file.ts'
import { addCopies } from '../../../support/contents/file-copies.ts'
import { type ContractDatabase, databases } from '../../../support/databases/databases.ts'
import { type HandClock, handClock } from '../../../support/hand-clock.ts'
import { keptLog } from '../../../support/kept-log.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { unsoundTotals } from '../../../support/storage/soundness.ts'

const BYTES = 10

/** An account's tree on a database, where nothing runs by itself. */
async function tree(contract: ContractDatabase) {
  const { db } = contract
  const clock = handClock()
  const account = (await createAccounts(db, clock, systemRandom).add('alice')).id
  const reach: Actor = { account, within: null, scopes: SCOPES }
  const usage = new Usage(db, clock)
  const outages = await createOutages({ db, clock, timers: { monotonic: () => 0 }, log: keptLog() })
  const folders = createFolders(db, clock, systemRandom, 256)
  const files = { ...createFiles(db, usage, clock), ...createFileLists(db, usage) }
  const query: FileListQuery = { page: 1, perPage: 100, folder: null, search: '', sort: 'name', order: 'asc' }

  return {
    db,
    clock,
    account,
    reach,
    usage,
    folders,
    files,
    removals: createRemovals(db, clock),
    clearing: createFolderClearing(db, clock),
    bin: createBin(db, clock, outages.lifetime(7)),
    outages,
    lifetime: outages.lifetime,
    inactivity: createInactivity(outages, { guests: 45, accounts: 45 }),
    restoring: createBinRestoring(db, clock, 256),

    async folder(name: string, parent: FolderPlace = 'root'): Promise<FolderIdentifier> {
      return (await folders.create(reach, { name, parent, isPublic: true, password: null })).identifier
    },

    file: (name: string, place: FolderPlace = 'root') => store(db, clock, account, name, place),

    async names(change: Partial<FileListQuery> = {}): Promise<string[]> {
      return (await files.list(reach, { ...query, ...change })).files.map((file) => file.name)
    },

    async total(search = ''): Promise<number> {
      return (await files.list(reach, { ...query, search })).total
    },

    async folderNames(): Promise<string[]> {
      return (await folders.list(reach, null)).map((folder) => folder.name)
    },

    /** The entries of the bin that are listed, the newest first. */
    async entries(): Promise<BinEntryId[]> {
      return (await this.bin.list(reach, 1, 10)).entries.map(({ id }) => id)
    },

    async totals(): Promise<[files: number, folders: number, bytes: number]> {
      const row = await findAccount(db, account)
      return [row?.files_count ?? -1, row?.folders_count ?? -1, row?.storage_used ?? -1]
    },
  }
}

/** Lets a job go on for so many steps. */
function takes(steps: number): () => boolean {
  let taken = 0
  return () => taken++ < steps
}

async function store(
  db: Database,
  clock: HandClock,
  account: AccountId,
  name: string,
  place: FolderPlace,
): Promise<Slug> {
  const slug = makeSlug(systemRandom)
  const now = clock.now()
  await inTransaction(db, async (trx) => {
    const folder_id = await resolvePlace(trx, { account, within: null }, place)
    await lockAccount(trx, account)
    const sha256 = Buffer.from(systemRandom(32)).toString('hex') as Sha256
    const blob = { key: makeBlobKey(systemRandom), sha256, crc32: 0, size: BYTES, created_at: now }
    await insertFile(trx, {
      uuid: makeUuid(systemRandom),
      slug,
      account_id: account,
      folder_id,
      blob_id: await adoptBlob(trx, blob, now),
      name,
      name_folded: name,
      size: BYTES,
      type: 'text/plain',
      created_at: now,
      last_used_at: now,
    })
    await changeTotals(trx, account, { storage: BYTES, files: 1 })
    await changeFiles(trx, folder_id, 1, BYTES)
  })
  return slug
}

/** Lets the folder of the entry begin to come back, without a step of it. */
function beginToReturn(db: Database, account: AccountId, id: BinEntryId): Promise<void> {
  return inTransaction(db, async (trx) => {
    const entry = await findBinEntry(trx, account, id)
    if (entry === undefined || entry.folder_id === null) throw new Error('the bin has no such folder')
    await countBin(trx, account, -entry.bytes, -1)
    await beginReturn(trx, entry, entry.folder_id)
  })
}

describe.each(databases('deleted folders'))('on %s', (_, open) => {
  describe('a deleted folder whose tree is not marked yet', () => {
    /** outer > inner > innermost with a file in each, one file and one folder beside them; outer is deleted. */
    async function deleted(contract: ContractDatabase) {
      const it = await tree(contract)
      const outer = await it.folder('outer')
      const inner = await it.folder('inner', outer)
      const innermost = await it.folder('innermost', inner)
      await it.folder('beside')
      await it.file('kept file')
      await it.file('outer file', outer)
      await it.file('inner file', inner)
      const slug = await it.file('innermost file', innermost)
      const counts = await it.removals.folders(it.reach, [outer])
      expect(await isClearing(it.db, it.account)).toBe(true)
      return { ...it, outer, inner, innermost, slug, counts }
    }

    test('counts all its files as deleted', async () => {
      await using contract = await open()
      const { counts } = await deleted(contract)
      expect(counts).toEqual({ processed: 1, deleted: 1, filesDeleted: 3 })
    })

    test('is out of every list, search and total', async () => {
      await using contract = await open()
      const it = await deleted(contract)
      expect(await it.names()).toEqual(['kept file'])
      expect(await it.names({ search: 'file' })).toEqual(['kept file'])
      expect(await it.names({ search: 'il' })).toEqual(['kept file'])
      expect(await it.total()).toBe(1)
      expect(await it.total('file')).toBe(1)
      expect(await it.folderNames()).toEqual(['beside'])
      expect(await it.totals()).toEqual([1, 1, BYTES])
    })

    test('lets nobody at what was in it', async () => {
      await using contract = await open()
      const it = await deleted(contract)
      const slug = { kind: 'slug', slug: it.slug } as const
      const missing = { code: 'FILE_NOT_FOUND' }
      const noFolder = { code: 'FOLDER_NOT_FOUND' }
      await expect(it.files.get(it.reach, slug)).rejects.toMatchObject(missing)
      await expect(it.files.move(it.reach, slug, 'root')).rejects.toMatchObject(missing)
      await expect(it.files.change(it.reach, slug, { name: 'x' })).rejects.toMatchObject(missing)
      await expect(it.folders.get(it.reach, it.innermost)).rejects.toMatchObject(noFolder)
      await expect(it.folders.move(it.reach, it.inner, 'root')).rejects.toMatchObject(noFolder)
      await expect(it.folder('new', it.innermost)).rejects.toMatchObject(noFolder)
      expect((await it.removals.files(it.reach, [slug])).deleted).toBe(0)
      expect((await it.removals.folders(it.reach, [it.inner])).deleted).toBe(0)
      expect(await it.totals()).toEqual([1, 1, BYTES])
    })

    test('gives its name back', async () => {
      await using contract = await open()
      const it = await deleted(contract)
      await it.folder('outer')
      expect(await it.folderNames()).toEqual(['beside', 'outer'])
    })

    test('takes nothing from the totals again when its files expire', async () => {
      await using contract = await open()
      using disk = temporaryFolder()
      const it = await deleted(contract)
      const blobs = await openDiskBlobs(disk.path, systemRandom, { alone: true })
      const cleaning = createCleaning(it.db, blobs, it.clock, () => {})
      const expiry = createExpiry({ ...it, cleaning, guard: createClockGuard(it.clock) })
      it.clock.advance(46 * DAY)
      await expiry.mark()
      expect(await it.totals()).toEqual([0, 1, 0])
      it.clock.leap(-46 * DAY)
      await expiry.mark()
      expect(await it.totals()).toEqual([1, 1, BYTES])
      expect(await it.names()).toEqual(['kept file'])
    })

    test('is marked in steps, after which its rows go and the rest is as before', async () => {
      await using contract = await open()
      using disk = temporaryFolder()
      const it = await deleted(contract)
      await it.clearing.run()
      expect(await isClearing(it.db, it.account)).toBe(false)
      expect(await it.names()).toEqual(['kept file'])
      expect(await it.totals()).toEqual([1, 1, BYTES])
      const blobs = await openDiskBlobs(disk.path, systemRandom, { alone: true })
      await createCleaning(it.db, blobs, it.clock, () => {}).purgeDeleted()
      const rows = await it.db
        .selectFrom('folders')
        .select('name')
        .where('account_id', '=', it.account)
        .orderBy('id')
        .execute()
      expect(rows.map((row) => row.name)).toEqual(['', 'beside'])
      expect(await it.db.selectFrom('files').select('name').execute()).toEqual([{ name: 'kept file' }])
    })

    test('goes on being cleared by whoever comes next when the first one stops', async () => {
      await using contract = await open()
      const it = await deleted(contract)
      await it.clearing.run(takes(2))
      expect(await isClearing(it.db, it.account)).toBe(true)
      expect(await it.names()).toEqual(['kept file'])
      await it.clearing.run()
      expect(await isClearing(it.db, it.account)).toBe(false)
    })
  })

  test('a tree with more than one step marks at a time is cleared whole', async () => {
    await using contract = await open()
    const it = await tree(contract)
    const outer = await it.folder('outer')
    for (let sub = 0; sub < 60; sub++) await it.file(`f${sub}`, await it.folder(`s${sub}`, outer))
    for (let file = 0; file < 310; file++) await it.file(`o${file}`, outer)
    expect((await it.removals.folders(it.reach, [outer])).filesDeleted).toBe(370)
    await it.clearing.run()
    const alive = await it.db.selectFrom('files').select('id').where('removed_at', 'is', null).execute()
    expect(alive).toEqual([])
    expect(await it.folderNames()).toEqual([])
    expect(await it.totals()).toEqual([0, 0, 0])
  })

  describe('a folder in the bin', () => {
    /** A tree of more than the steps of one request take, in the bin. */
    async function binned(contract: ContractDatabase) {
      const it = await tree(contract)
      const outer = await it.folder('outer')
      for (let sub = 0; sub < 60; sub++) await it.file(`f${sub}`, await it.folder(`s${sub}`, outer))
      for (let file = 0; file < 610; file++) await it.file(`o${file}`, outer)
      const [put] = await it.bin.put(it.reach, [{ kind: 'folder', folder: outer }])
      if (put?.done !== true) throw new Error('the folder is not in the bin')
      const bytes = 670 * BYTES
      expect(await it.totals()).toEqual([0, 0, bytes])
      return { ...it, outer, entry: put.result, bytes }
    }

    test('comes back in steps, and nothing of it is seen before all is there', async () => {
      await using contract = await open()
      const it = await binned(contract)
      await it.clearing.run()
      expect(await it.restoring.restore(it.reach, [it.entry], null)).toEqual([
        { done: true, result: undefined },
      ])
      expect((await it.bin.list(it.reach, 1, 10)).entries).toMatchObject([{ restoring: 1 }])
      expect(await it.names()).toEqual([])
      expect(await it.folderNames()).toEqual([])
      expect(await it.totals()).toEqual([0, 0, it.bytes])
      // Nobody marks again what is coming back.
      await it.clearing.run()
      await it.restoring.run(takes(3))
      expect(await it.names()).toEqual([])
      await it.restoring.run()
      expect(await it.names({ search: 'f1' })).toHaveLength(11)
      expect(await it.folderNames()).toHaveLength(61)
      expect(await it.total()).toBe(670)
      expect(await it.totals()).toEqual([670, 61, it.bytes])
      expect((await it.folders.get(it.reach, it.outer)).tree_files).toBe(670)
      expect(await isClearing(it.db, it.account)).toBe(false)
      expect((await it.bin.list(it.reach, 1, 10)).entries).toEqual([])
    })

    test('that is coming back outlives the emptying of the bin, and its seven days', async () => {
      await using contract = await open()
      const it = await tree(contract)
      const guard = createClockGuard(it.clock)
      const emptying = createBinEmptying({ ...it, guard }, it.lifetime(7))
      const outer = await it.folder('outer')
      await it.file('inside', outer)
      const slug = await it.file('alone')
      const [folder, file] = await it.bin.put(it.reach, [
        { kind: 'folder', folder: outer },
        { kind: 'file', file: { kind: 'slug', slug } },
      ])
      if (folder?.done !== true || file?.done !== true) throw new Error('they are not in the bin')
      await it.clearing.run()
      expect(await it.totals()).toEqual([0, 0, 2 * BYTES])
      expect(await unsoundTotals(it.db)).toEqual([])
      await beginToReturn(it.db, it.account, folder.result)
      expect(await emptying.remove(it.reach, [folder.result])).toEqual([{ done: false, error: 'NOT_FOUND' }])
      expect(await emptying.empty(it.reach)).toEqual({ bytes: BYTES, entries: 1 })
      expect(await it.entries()).toEqual([folder.result])
      const [later] = await it.bin.put(it.reach, [{ kind: 'folder', folder: await it.folder('later') }])
      if (later?.done !== true) throw new Error('it is not in the bin')
      await emptying.run()
      expect(await it.entries()).toEqual([later.result, folder.result])
      it.clock.advance(8 * DAY)
      await emptying.run()
      expect(await it.entries()).toEqual([folder.result])
      await it.restoring.run()
      expect(await it.names()).toEqual(['inside'])
      expect(await it.totals()).toEqual([1, 1, BYTES])
      expect(await it.entries()).toEqual([])
    })

    test('goes after seven days, once the clock was right for one, to the millisecond', async () => {
      await using contract = await open()
      const it = await tree(contract)
      const guard = createClockGuard(it.clock)
      const age = (lasts: number) => ({ cutoff: () => it.clock.now() - lasts, endOf: () => 0, days: 0 })
      const outages = { settle: async () => it.clock.now() }
      const emptying = createBinEmptying({ ...it, guard, outages }, age(7 * DAY))
      const put = async () => {
        const folder = await it.folder('outer')
        await it.file('inside', folder)
        await it.bin.put(it.reach, [{ kind: 'folder', folder }])
        await it.clearing.run()
      }
      await put()
      it.clock.advance(7 * DAY - 1)
      await emptying.run()
      expect(await it.entries()).toHaveLength(1)
      it.clock.advance(1)
      await emptying.run()
      expect(await it.entries()).toEqual([])
      await put()
      it.clock.leap(8 * DAY)
      await emptying.run()
      it.clock.advance(DAY - 1)
      await emptying.run()
      expect(await it.entries()).toHaveLength(1)
      it.clock.advance(1)
      await emptying.run()
      expect(await it.entries()).toEqual([])
      await it.clearing.run()
      expect(await it.totals()).toEqual([0, 0, 0])
      expect(await unsoundTotals(it.db)).toEqual([])
    })

    test('that is coming back goes with its account', async () => {
      await using contract = await open()
      const it = await binned(contract)
      await it.clearing.run()
      await it.restoring.restore(it.reach, [it.entry], null)
      expect((await it.bin.list(it.reach, 1, 10)).entries).toMatchObject([{ restoring: 1 }])
      await it.restoring.run(takes(3))
      const caller: SessionCaller = {
        ...it.reach,
        kind: 'account',
        username: 'alice',
        by: {
          kind: 'session',
          session: 1 as SessionId,
          isAdmin: false,
          provedAt: it.clock.now(),
          address: '',
        },
        scopes: SCOPES,
        expiresAt: null,
      }
      const rates = createSharedRateLimits(it.db, it.clock)
      const outbox = createOutbox(it.clock, systemRandom, null)
      const reauthentication = createReauthentication(it.db, rates, it.clock, createSessions(it.db, it.clock))
      await createOwnAccount({ ...it, rates, outbox, reauthentication }).remove(caller, null)
      await it.clearing.run()
      await it.restoring.run()
      await createBinEmptying({ ...it, guard: createClockGuard(it.clock) }, it.lifetime(7)).run()
      await it.clearing.run()
      for (const table of ['files', 'folders'] as const) {
        const alive = it.db.selectFrom(table).select('id').where('account_id', '=', it.account)
        const isLeft = table === 'files' ? 'removed_at' : 'deleted_at'
        expect(await alive.where(isLeft, 'is', null).execute()).toEqual([])
      }
      expect(await it.db.selectFrom('bin').select('id').execute()).toEqual([])
    })

    test.each([
      ['marked meanwhile', true],
      ['back before it is marked', false],
    ])('does not expire there, and lives on when it is back: %s', async (_, isCleared) => {
      await using contract = await open()
      using disk = temporaryFolder()
      const it = await tree(contract)
      const outer = await it.folder('outer')
      await it.file('inside', outer)
      await it.file('below', await it.folder('innermost', await it.folder('inner', outer)))
      const slug = await it.file('alone')
      const things = [
        { kind: 'folder', folder: outer },
        { kind: 'file', file: { kind: 'slug', slug } },
      ] as const
      const put = await it.bin.put(it.reach, things)
      const blobs = await openDiskBlobs(disk.path, systemRandom, { alone: true })
      const cleaning = createCleaning(it.db, blobs, it.clock, () => {})
      const expiry = createExpiry({ ...it, cleaning, guard: createClockGuard(it.clock) })
      it.clock.advance(46 * DAY)
      await expiry.mark()
      if (isCleared) await it.clearing.run()
      await expiry.mark()
      await it.restoring.restore(
        it.reach,
        put.flatMap((each) => (each.done ? [each.result] : [])),
        null,
      )
      await expiry.mark()
      await it.clearing.run()
      // Restoring counts as a use. Accounts are searched anew after 45 days but for an hour.
      it.clock.advance(45 * DAY - DAY / 48)
      await expiry.mark()
      expect(await it.names()).toEqual(['alone', 'below', 'inside'])
      expect(await it.totals()).toEqual([3, 3, 3 * BYTES])
      expect(await unsoundTotals(it.db)).toEqual([])
    })

    test('brings what a wrong clock had hidden in it back with it', async () => {
      await using contract = await open()
      using disk = temporaryFolder()
      const it = await tree(contract)
      const outer = await it.folder('outer')
      await it.file('hidden', outer)
      const { id } = await it.db.selectFrom('files').select('id').executeTakeFirstOrThrow()
      await addCopies(it.db, id, 99)
      await it.file('below', await it.folder('inner', outer))
      await it.file('beside')
      const blobs = await openDiskBlobs(disk.path, systemRandom, { alone: true })
      const cleaning = createCleaning(it.db, blobs, it.clock, () => {})
      const expiry = createExpiry({ ...it, cleaning, guard: createClockGuard(it.clock) })
      it.clock.advance(46 * DAY)
      await expiry.mark()
      it.clock.leap(-46 * DAY)
      const [put] = await it.bin.put(it.reach, [{ kind: 'folder', folder: outer }])
      // As many as one step takes wait for their folder, and keep no other file waiting.
      await expiry.mark()
      expect(await it.names()).toEqual(['beside'])
      await it.clearing.run()
      await expiry.mark()
      expect(await it.totals()).toEqual([1, 0, BYTES])
      await it.restoring.restore(it.reach, put?.done === true ? [put.result] : [], null)
      await expiry.mark()
      expect(await it.total('hidden')).toBe(100)
      expect(await it.totals()).toEqual([102, 2, 102 * BYTES])
      expect((await it.folders.get(it.reach, outer)).tree_files).toBe(101)
      expect(await unsoundTotals(it.db)).toEqual([])
    })

    test('that is an entry of its own lives on when the one around it is deleted', async () => {
      await using contract = await open()
      using disk = temporaryFolder()
      const it = await tree(contract)
      const outer = await it.folder('outer')
      const inner = await it.folder('inner', outer)
      await it.file('below', await it.folder('innermost', inner))
      const put = async (folder: FolderIdentifier) => {
        const [outcome] = await it.bin.put(it.reach, [{ kind: 'folder', folder }])
        return outcome?.done === true ? [outcome.result] : []
      }
      const [own, around] = [await put(inner), await put(outer)]
      const guard = createClockGuard(it.clock)
      const blobs = await openDiskBlobs(disk.path, systemRandom, { alone: true })
      const cleaning = createCleaning(it.db, blobs, it.clock, () => {})
      it.clock.advance(46 * DAY)
      await createExpiry({ ...it, cleaning, guard }).mark()
      await createBinEmptying({ ...it, guard }, it.lifetime(7)).remove(it.reach, around)
      await it.clearing.run()
      await it.restoring.restore(it.reach, own, null)
      expect(await it.names()).toEqual(['below'])
      expect(await it.totals()).toEqual([1, 2, BYTES])
      expect(await unsoundTotals(it.db)).toEqual([])
    })
  })

  test('a bin of more entries than one step deletes is emptied whole', async () => {
    await using contract = await open()
    const it = await tree(contract)
    await it.file('first')
    const { id: first } = await it.db.selectFrom('files').select('id').executeTakeFirstOrThrow()
    const ids = [first, ...(await addCopies(it.db, first, 50))]
    await it.bin.put(
      it.reach,
      ids.map((id) => ({ kind: 'file', file: { kind: 'id', id: id as FileId } })),
    )
    const guard = createClockGuard(it.clock)
    const emptying = createBinEmptying({ ...it, guard }, it.lifetime(7))
    expect(await emptying.empty(it.reach)).toEqual({ bytes: 51 * BYTES, entries: 51 })
    await emptying.run()
    expect(await it.entries()).toEqual([])
    expect(await it.totals()).toEqual([0, 0, 0])
    expect(await unsoundTotals(it.db)).toEqual([])
  })

  test('a folder that moved takes its sums along', async () => {
    await using contract = await open()
    const it = await tree(contract)
    const from = await it.folder('from')
    const to = await it.folder('to')
    const moved = await it.folder('moved', from)
    await it.file('one', await it.folder('below', moved))
    expect(await it.folders.move(it.reach, moved, to)).toBe(2)
    expect((await it.removals.folders(it.reach, [from])).filesDeleted).toBe(0)
    expect((await it.removals.folders(it.reach, [to])).filesDeleted).toBe(1)
    expect(await it.totals()).toEqual([0, 0, 0])
  })
})
