import type { Config } from './config.ts'
import { missingMigrations as countMissing, MIGRATIONS } from './database/migrate.ts'
import { Refusal } from './domain/errors.ts'
import { type AccountAdministration, createAccountAdministration } from './services/account-administration.ts'
import { type Accounts, createAccounts } from './services/accounts.ts'
import { type AdministratorMaking, createAdministratorMaking } from './services/administrator-making.ts'
import { type AllFiles, createAllFiles } from './services/all-files.ts'
import { type AuditLog, createAuditLog } from './services/audit.ts'
import { type BackgroundJobs, createBackgroundJobs } from './services/background-jobs.ts'
import { createKeys, type Keys } from './services/keys.ts'
import { createLinkMaking } from './services/link-making.ts'
import { createNotices, type Notices } from './services/notices.ts'
import { createOneTimeLinks, type OneTimeLinks } from './services/one-time-links.ts'
import { assertWhole } from './services/pairing.ts'
import { createReports, type Reports } from './services/reports.ts'
import { createStatistics, type Statistics } from './services/statistics.ts'
import { createTakeDowns, type TakeDowns } from './services/take-downs.ts'
import { createTrafficCounter } from './services/traffic.ts'
import type { Parts } from './storage.ts'
import { connect, databaseExists, openDatabase } from './storage.ts'

/** What the command line does, beside a running server or without one. */
export interface Administration {
  readonly accountAdministration: AccountAdministration
  readonly accounts: Accounts
  readonly allFiles: AllFiles
  readonly auditLog: AuditLog
  readonly backgroundJobs: BackgroundJobs
  readonly keys: Keys
  readonly notices: Notices
  readonly oneTimeLinks: OneTimeLinks
  readonly reports: Reports
  readonly administratorMaking: AdministratorMaking
  readonly statistics: Statistics
  readonly takeDowns: TakeDowns
  close(): Promise<void>
}

/** How many migrations the database lacks; a database that is not there lacks them all. Changes nothing. */
export async function missingMigrations(parts: Parts): Promise<number> {
  if (!databaseExists(parts.config)) return MIGRATIONS
  const { db, close } = await connect({ ...parts, report() {} })
  try {
    return await countMissing(db)
  } finally {
    await close()
  }
}

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

export async function applyMigrations(parts: Parts): Promise<void> {
  const { close } = await openDatabase({ ...parts, report() {} })
  await close()
}

/**
 * Opens what there is, and migrates nothing: a server may be running on it with an older program. Throws Refusal
 * PRECONDITION_FAILED where a migration is missing or no data is, unless `mayBegin`: then an empty place gets its
 * database.
 */
export async function openAdministration(
  parts: Parts,
  { mayBegin = false }: { readonly mayBegin?: boolean } = {},
): Promise<Administration> {
  const { clock, random, config } = parts
  if (!(mayBegin || databaseExists(config))) throw noData(config)
  const { db, close } = await connect({ ...parts, report() {} })
  try {
    const missing = await countMissing(db)
    if (missing === MIGRATIONS && mayBegin) await applyMigrations(parts)
    else if (missing === MIGRATIONS) throw noData(config)
    else if (missing > 0) throw tooOld(missing)
    await assertWhole(db)
  } catch (error) {
    await close()
    throw error
  }
  const traffic = createTrafficCounter(db, clock)
  const makeLink = createLinkMaking(clock, random)
  return {
    accountAdministration: createAccountAdministration(db, clock, makeLink),
    accounts: createAccounts(db, clock, random),
    administratorMaking: createAdministratorMaking(db, clock, random),
    allFiles: createAllFiles(db),
    auditLog: createAuditLog(db),
    backgroundJobs: createBackgroundJobs(db, null, clock),
    keys: createKeys(db, clock, random),
    notices: createNotices(db, clock),
    // Only a server knows the disk that it writes to.
    statistics: createStatistics({ db, traffic, freeSpace: async () => null, clock, report() {} }),
    takeDowns: createTakeDowns(db, clock, () => {}),
    oneTimeLinks: createOneTimeLinks(db, clock, makeLink, config.signUp),
    reports: createReports(db, clock),
    close,
  }
}
