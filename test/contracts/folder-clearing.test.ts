import { describe, expect, test } from 'bun:test'
import { openDiskBlobs } from '../../src/blobs/disk.ts'
import { changeTotals, findAccount } from '../../src/database/accounts.ts'
import { adoptBlob } from '../../src/database/blobs.ts'
import { insertFile } from '../../src/database/files.ts'
import { changeFiles, isClearing } from '../../src/database/folders.ts'
import type { Db } from '../../src/database/schema.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import { DAY } from '../../src/domain/clock.ts'
import type {
  AccountId,
  FolderIdentifier,
  FolderPlace,
  SessionId,
  Sha256,
  Slug,
} from '../../src/domain/ids.ts'
import { makeBlobKey, makeSlug, makeUuid, systemRandom } from '../../src/domain/random.ts'
import type { Reach } from '../../src/domain/reach.ts'
import { SCOPES } from '../../src/domain/scopes.ts'
import { createAccounts } from '../../src/services/accounts.ts'
import { createBin } from '../../src/services/bin.ts'
import { createBinEmptying } from '../../src/services/bin-emptying.ts'
import { createBinRestoring } from '../../src/services/bin-restoring.ts'
import type { SessionCaller } from '../../src/services/caller.ts'
import { createCleaning } from '../../src/services/cleaning.ts'
import { createClockGuard } from '../../src/services/clock-guard.ts'
import { createExpiry } from '../../src/services/expiry.ts'
import { createFiles, type FileListQuery } from '../../src/services/files.ts'
import { createFolderClearing } from '../../src/services/folder-clearing.ts'
import { createFolderMoves } from '../../src/services/folder-moves.ts'
import { createFolders } from '../../src/services/folders.ts'
import { createOutages } from '../../src/services/outages.ts'
import { createOutbox } from '../../src/services/outbox.ts'
import { createOwnAccount } from '../../src/services/own-account.ts'
import { placeOf } from '../../src/services/places.ts'
import { createProofs } from '../../src/services/proofs.ts'
import { createRemovals } from '../../src/services/removals.ts'
import { createSessions } from '../../src/services/sessions.ts'
import { createSharedRateLimits } from '../../src/services/shared-rate-limits.ts'
import { createUsage } from '../../src/services/usage.ts'
import { temporaryFolder } from '../support/child.ts'
import { type ContractDatabase, databases } from '../support/databases.ts'
import { type HandClock, handClock } from '../support/hand-clock.ts'
import { keptLog } from '../support/kept-log.ts'
import { unsoundTotals } from '../support/soundness.ts'

const BYTES = 10

/** An account's tree on a database, where nothing runs by itself. */
async function tree(contract: ContractDatabase) {
  const { db } = contract
  const clock = handClock()
  const account = (await createAccounts(db, clock, systemRandom).add('alice')).id
  const reach: Reach = { account, within: null }
  const usage = createUsage(db, clock)
  const outages = await createOutages({ db, clock, timers: { monotonic: () => 0 }, log: keptLog() })
  const folders = createFolders(db, clock, systemRandom, 256)
  const files = createFiles(db, usage)
  const query: FileListQuery = { page: 1, perPage: 100, folder: null, search: '', sort: 'name', order: 'asc' }

  return {
    db,
    clock,
    account,
    reach,
    usage,
    folders,
    files,
    moves: createFolderMoves(db, 256),
    removals: createRemovals(db, clock),
    clearing: createFolderClearing(db, clock),
    bin: createBin(db, clock, outages.lifetime(7)),
    outages,
    lifetime: outages.lifetime,
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
  db: Db,
  clock: HandClock,
  account: AccountId,
  name: string,
  place: FolderPlace,
): Promise<Slug> {
  const slug = makeSlug(systemRandom)
  const now = clock.now()
  await inTransaction(db, async (trx) => {
    const folder_id = await placeOf(trx, { account, within: null }, place)
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
      await expect(it.moves.move(it.reach, it.inner, 'root')).rejects.toMatchObject(noFolder)
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
      const expiry = createExpiry({
        ...it,
        cleaning,
        guard: createClockGuard(it.clock),
        lifetime: it.lifetime(45),
      })
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
      return { ...it, outer, entry: put.entry, bytes }
    }

    test('comes back in steps, and nothing of it is seen before all is there', async () => {
      await using contract = await open()
      const it = await binned(contract)
      await it.clearing.run()
      expect(await it.restoring.restore(it.reach, [it.entry], null)).toEqual([
        { done: true, entry: it.entry },
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
        by: { kind: 'session', session: 1 as SessionId, isAdmin: false, provedAt: it.clock.now() },
        scopes: SCOPES,
        expiresAt: null,
      }
      const rates = createSharedRateLimits(it.db, it.clock)
      const outbox = createOutbox(it.clock, systemRandom, null)
      const proofs = createProofs(it.db, rates, it.clock, createSessions(it.db, it.clock))
      await createOwnAccount({ ...it, rates, outbox, proofs }).remove(caller, null)
      await it.clearing.run()
      await it.restoring.run()
      await createBinEmptying({ ...it, guard: createClockGuard(it.clock), lifetime: it.lifetime(7) }).run()
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
      const expiry = createExpiry({
        ...it,
        cleaning,
        guard: createClockGuard(it.clock),
        lifetime: it.lifetime(45),
      })
      it.clock.advance(46 * DAY)
      await expiry.mark()
      if (isCleared) await it.clearing.run()
      await expiry.mark()
      await it.restoring.restore(
        it.reach,
        put.flatMap((each) => (each.done ? [each.entry] : [])),
        null,
      )
      await expiry.mark()
      await it.clearing.run()
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
      const blobs = await openDiskBlobs(disk.path, systemRandom, { alone: true })
      const cleaning = createCleaning(it.db, blobs, it.clock, () => {})
      const expiry = createExpiry({
        ...it,
        cleaning,
        guard: createClockGuard(it.clock),
        lifetime: it.lifetime(45),
      })
      it.clock.advance(46 * DAY)
      await expiry.mark()
      it.clock.leap(-46 * DAY)
      const [put] = await it.bin.put(it.reach, [{ kind: 'folder', folder: outer }])
      await expiry.mark()
      await it.clearing.run()
      await expiry.mark()
      expect(await it.totals()).toEqual([0, 0, 0])
      await it.restoring.restore(it.reach, put?.done === true ? [put.entry] : [], null)
      await expiry.mark()
      expect(await it.names()).toEqual(['hidden'])
      expect(await it.totals()).toEqual([1, 1, BYTES])
      expect((await it.folders.get(it.reach, outer)).tree_files).toBe(1)
    })
  })

  test('a folder that moved takes its sums along', async () => {
    await using contract = await open()
    const it = await tree(contract)
    const from = await it.folder('from')
    const to = await it.folder('to')
    const moved = await it.folder('moved', from)
    await it.file('one', await it.folder('below', moved))
    expect(await it.moves.move(it.reach, moved, to)).toBe(2)
    expect((await it.removals.folders(it.reach, [from])).filesDeleted).toBe(0)
    expect((await it.removals.folders(it.reach, [to])).filesDeleted).toBe(1)
    expect(await it.totals()).toEqual([0, 0, 0])
  })
})
