import { missingMigrations as countMissing, MIGRATIONS } from './database/migrate.ts'
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

export async function applyMigrations(parts: Parts): Promise<void> {
  const { close } = await openDatabase({ ...parts, report() {} })
  await close()
}

export async function openAdministration(parts: Parts): Promise<Administration> {
  const { clock, random, config } = parts
  const { db, close } = await openDatabase({ ...parts, report() {} })
  try {
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
