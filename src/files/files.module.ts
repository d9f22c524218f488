import { findAccount } from '../core/accounts.rows.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import { createBin } from './bin/bin.ts'
import { createBinEmptying } from './bin/bin-emptying.ts'
import { createBinRestoring } from './bin/bin-restoring.ts'
import { createCleaning } from './blob-cleaning.job.ts'
import { createExpiry, createInactivity } from './expiry.ts'
import { createFileLists, createFiles } from './files.ts'
import { createFolderClearing } from './folders/folder-clearing.ts'
import { createFolders } from './folders/folders.ts'
import { createStorageShares } from './folders/storage-shares.ts'
import { createRemovals } from './removals.ts'
import { Usage } from './use-counters.ts'

export type FilesModule = Awaited<ReturnType<typeof createFilesModule>>

export async function createFilesModule(core: Core) {
  const { db, blobs, clock, guard, outages, config } = core
  const { maxFolderDepth } = config
  const usage = new Usage(core.nonDurableDb, clock, core.traffic.downloaded)
  const cleaning = createCleaning(db, blobs, clock, core.failed('a blob could not be removed'), core.removing)
  // With other nodes, a job ends the uploads of dead ones.
  if (!core.isShared) await cleaning.afterStart()
  const inactivity = createInactivity(outages, {
    guests: config.inactiveDays,
    accounts: config.accountInactiveDays ?? config.inactiveDays,
  })
  const binLifetime = outages.lifetime(config.binDays)
  const expiry = createExpiry({ db, cleaning, usage, clock, guard, outages, inactivity })
  const clearing = createFolderClearing(db, clock)
  const binRestoring = createBinRestoring(db, clock, maxFolderDepth)
  const binEmptying = createBinEmptying(core, binLifetime)
  return {
    ...createFiles(db, usage, clock),
    ...createFileLists(db, usage),
    folders: createFolders(db, clock, core.random, maxFolderDepth),
    storageShares: createStorageShares(db, clock),
    removals: createRemovals(db, clock),
    bin: createBin(db, clock, binLifetime),
    binRestoring,
    binEmptying,
    usage,
    inactivity,
    /** Null means never. */
    async lifetimeOf(account: AccountId) {
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
    ] satisfies Job[],
  }
}
