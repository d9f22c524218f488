import {
  type AccountAdministration,
  createAccountAdministration,
} from '../accounts/account-administration.ts'
import {
  type Accounts,
  type AdministratorCreation,
  createAccounts,
  createAdministratorCreation,
} from '../accounts/accounts.ts'
import { createKeys, type Keys } from '../accounts/keys.ts'
import { createOneTimeLinks, type OneTimeLinks, oneTimeLinkCreator } from '../accounts/one-time-links.ts'
import type { Config } from '../config.ts'
import { type AuditLog, createAuditLog } from '../core/audit-log.ts'
import { assertNotMoved, assertWhole } from '../core/store/pairing.ts'
import { createTrafficCounter } from '../core/traffic.ts'
import { missingMigrations as countMissing, migrations } from '../database/migrate.ts'
import { Refusal } from '../domain/errors.ts'
import { createReports, type Reports } from '../sharing/reports.ts'
import { createTakeDowns, type TakeDowns } from '../sharing/take-downs.ts'
import { connect, databaseExists, openDatabase, type StorageOptions } from '../storage.ts'
import { type AllFiles, createAllFiles } from './all-files.ts'
import { type BackgroundJobs, createBackgroundJobs } from './background-jobs.ts'
import { createNotices, type NoticeBoard } from './notices.ts'
import { createStatistics, type Statistics } from './statistics.ts'

/** Services for the command line, with or without a running server. */
export interface Administration {
  readonly accountAdministration: AccountAdministration
  readonly accounts: Accounts
  readonly allFiles: AllFiles
  readonly auditLog: AuditLog
  readonly backgroundJobs: BackgroundJobs
  readonly keys: Keys
  readonly notices: NoticeBoard
  readonly oneTimeLinks: OneTimeLinks
  readonly reports: Reports
  readonly administratorCreation: AdministratorCreation
  readonly statistics: Statistics
  readonly takeDowns: TakeDowns
  close(): Promise<void>
}

/** Number of missing migrations; a missing database lacks all of them. Changes nothing. */
export async function pendingMigrations(parts: StorageOptions): Promise<number> {
  if (!databaseExists(parts.config)) return migrations.length
  const { db, close } = await connect({ ...parts, report() {} })
  try {
    return await countMissing(db)
  } finally {
    await close()
  }
}

/** Whether a database that lacks so many was never migrated. */
export const isNew = (missing: number) => missing === migrations.length

function noData({ databaseUrl, dataDir }: Config): Refusal {
  const place = databaseUrl === null ? dataDir : 'the database of HOLDFAST_DATABASE_URL'
  return new Refusal(
    'PRECONDITION_FAILED',
    `there is no Holdfast data in ${place}. Run this where the server runs, or set HOLDFAST_DATA_DIR or HOLDFAST_DATABASE_URL as it has them; "holdfast config" shows what is in force here.`,
  )
}

function tooOld(missing: number): Refusal {
  return new Refusal(
    'PRECONDITION_FAILED',
    `the database is older than this program: it lacks ${missing === 1 ? '1 migration' : `${missing} migrations`}. Run "holdfast migrate", or start the new server, which does the same.`,
  )
}

export async function applyMigrations(parts: StorageOptions): Promise<void> {
  const { close } = await openDatabase({ ...parts, report() {} })
  await close()
}

/**
 * Opens an existing installation without migrating it, since a server of an older version may be running.
 * Throws Refusal PRECONDITION_FAILED where a migration or all data is missing, unless `mayBegin`: then an
 * empty location gets a new database.
 */
export async function openAdministration(
  parts: StorageOptions,
  { mayBegin = false }: { readonly mayBegin?: boolean } = {},
): Promise<Administration> {
  const { clock, random, config } = parts
  if (!(mayBegin || databaseExists(config))) throw noData(config)
  const { db, close } = await connect({ ...parts, report() {} })
  try {
    const missing = await countMissing(db)
    if (missing === migrations.length && mayBegin) await applyMigrations(parts)
    else if (missing === migrations.length) throw noData(config)
    else if (missing > 0) throw tooOld(missing)
    await assertWhole(db)
    await assertNotMoved(db)
  } catch (error) {
    await close()
    throw error
  }
  const traffic = createTrafficCounter(db, clock)
  const makeLink = oneTimeLinkCreator(clock, random)
  return {
    accountAdministration: createAccountAdministration(db, clock, makeLink),
    accounts: createAccounts(db, clock, random),
    administratorCreation: createAdministratorCreation(db, clock, random),
    allFiles: createAllFiles(db),
    auditLog: createAuditLog(db),
    backgroundJobs: createBackgroundJobs(db, null, clock),
    keys: createKeys(db, clock, random),
    notices: createNotices(db, clock),
    // Free space is only known to a server, on the machine whose disk it writes to.
    statistics: createStatistics({ config, db, traffic, freeSpace: async () => null, clock, report() {} }),
    takeDowns: createTakeDowns(db, clock, () => {}),
    oneTimeLinks: createOneTimeLinks(db, clock, makeLink, config.signUp),
    reports: createReports(db, clock),
    close,
  }
}
