import { findAccount } from '../core/accounts.rows.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import type { Lifetime } from '../core/outages.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import { type Bin, createBin } from './bin/bin.ts'
import { type BinEmptying, createBinEmptying } from './bin/bin-emptying.ts'
import { type BinRestoring, createBinRestoring } from './bin/bin-restoring.ts'
import { createCleaning } from './blob-cleaning.job.ts'
import { createExpiry } from './expiry.job.ts'
import { createFiles, type Files } from './files.ts'
import { createFolderClearing } from './folders/folder-clearing.job.ts'
import { createFolderMoves, type FolderMoves } from './folders/folder-moving.ts'
import { createFolders, type Folders } from './folders/folders.ts'
import { createStorageShares, type StorageShares } from './folders/storage-shares.ts'
import { createInactivity, type Inactivity } from './inactivity.ts'
import { createRemovals, type Removals } from './removals.ts'
import { createUsage, type Usage } from './use-counters.ts'

export interface FilesPart extends Files {
  readonly folders: Folders
  readonly folderMoves: FolderMoves
  readonly storageShares: StorageShares
  readonly removals: Removals
  readonly bin: Bin
  readonly binRestoring: BinRestoring
  readonly binEmptying: BinEmptying
  readonly usage: Usage
  removeGarbage(): Promise<void>
  readonly inactivity: Inactivity
  /** Null means never. */
  lifetimeOf(account: AccountId): Promise<Lifetime | null>
  readonly jobs: readonly Job[]
}

export async function createFilesPart(core: Core): Promise<FilesPart> {
  const {
    db,
    nonDurableDb,
    isShared,
    blobs,
    removing,
    traffic,
    guard,
    outages,
    clock,
    random,
    config,
    failed,
  } = core
  const usage = createUsage(nonDurableDb, clock, traffic.downloaded)
  const cleaning = createCleaning(db, blobs, clock, failed('a blob could not be removed'), removing)
  // With other nodes, a job ends the uploads of dead ones.
  if (!isShared) await cleaning.afterStart()
  const inactivity = createInactivity(outages, {
    guests: config.inactiveDays,
    accounts: config.accountInactiveDays ?? config.inactiveDays,
  })
  const binLifetime = outages.lifetime(config.binDays)
  const expiry = createExpiry({ db, cleaning, usage, clock, guard, outages, inactivity })
  const clearing = createFolderClearing(db, clock)
  const binRestoring = createBinRestoring(db, clock, config.maxFolderDepth)
  const binEmptying = createBinEmptying({ db, clock, guard, outages, lifetime: binLifetime })
  return {
    ...createFiles(db, usage, clock),
    folders: createFolders(db, clock, random, config.maxFolderDepth),
    folderMoves: createFolderMoves(db, clock, config.maxFolderDepth),
    storageShares: createStorageShares(db, clock),
    removals: createRemovals(db, clock),
    bin: createBin(db, clock, binLifetime),
    binRestoring,
    binEmptying,
    usage,
    inactivity,
    async lifetimeOf(account) {
      const row = await findAccount(db, account)
      return inactivity.of({ account_id: account, inactive_days: row?.inactive_days ?? null })
    },
    removeGarbage: () => cleaning.removeGarbage(),
    jobs: [
      { name: 'write counters', on: 'every node', every: SECOND, run: () => usage.flush() },
      {
        name: 'end uploads of dead nodes',
        on: 'one node',
        every: 10 * SECOND,
        hasWork: cleaning.isAnyDead,
        run: cleaning.sweepDead,
      },
      { name: 'hide unused files', on: 'one node', every: 20 * SECOND, run: expiry.mark },
      { name: 'purge unused files', on: 'one node', every: HOUR, run: expiry.purge },
      {
        name: 'bring back from bins',
        on: 'one node',
        every: SECOND,
        hasWork: binRestoring.hasWork,
        run: binRestoring.run,
      },
      { name: 'empty bins', on: 'one node', every: 10 * SECOND, run: binEmptying.run },
      {
        name: 'clear deleted folders',
        on: 'one node',
        every: SECOND,
        hasWork: clearing.hasWork,
        run: clearing.run,
      },
      {
        name: 'purge deleted files',
        on: 'one node',
        every: 5 * SECOND,
        hasWork: cleaning.isAnyDeleted,
        run: cleaning.purgeDeleted,
      },
      { name: 'end forgotten uploads at the store', on: 'one node', every: HOUR, run: cleaning.endForgotten },
      { name: 'remove garbage', on: 'one node', every: MINUTE / 4, run: cleaning.removeGarbage },
      {
        name: 'forget outcomes of transactions',
        on: 'one node',
        every: MINUTE,
        run: cleaning.forgetOutcomes,
      },
    ],
  }
}
