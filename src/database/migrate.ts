import { sql } from 'kysely'
import type { Database, Queryable } from './database.ts'
import { isPostgres } from './dialect.ts'
import { lockMigrations } from './differences.ts'
import { initial } from './migrations/001-initial.ts'
import { manyNodes } from './migrations/002-many-nodes.ts'
import { namesInIndexes } from './migrations/003-names-in-indexes.ts'
import { resumableUploads } from './migrations/004-resumable-uploads.ts'
import { thumbnails } from './migrations/005-thumbnails.ts'
import { reports } from './migrations/006-reports.ts'
import { foldersByName } from './migrations/007-folders-by-name.ts'
import { keyScopes } from './migrations/008-key-scopes.ts'
import { signingIn } from './migrations/009-signing-in.ts'
import { bin } from './migrations/010-bin.ts'
import { changes } from './migrations/011-changes.ts'
import { administration } from './migrations/012-administration.ts'
import { mail } from './migrations/013-mail.ts'
import { addUnusedFiles } from './migrations/014-unused-files.ts'
import { transactionOutcomes } from './migrations/015-transaction-outcomes.ts'
import { outages } from './migrations/016-outages.ts'
import { proofs } from './migrations/017-proofs.ts'
import { screenPictures } from './migrations/018-screen-pictures.ts'
import { emptyUploads } from './migrations/019-empty-uploads.ts'
import { closedFolders } from './migrations/020-closed-folders.ts'
import { naturalNames } from './migrations/021-natural-names.ts'
import { damagedContents } from './migrations/022-damaged-contents.ts'
import { damages } from './migrations/023-damages.ts'
import { links } from './migrations/024-links.ts'
import { mirror } from './migrations/025-mirror.ts'
import { linkClaims } from './migrations/026-link-claims.ts'
import { uploadLinks } from './migrations/027-upload-links.ts'
import { arrivals } from './migrations/028-arrivals.ts'
import { linkEvents } from './migrations/029-link-events.ts'
import { webhooks } from './migrations/030-webhooks.ts'
import { news } from './migrations/031-news.ts'
import { contributionNames } from './migrations/032-contribution-names.ts'
import { followedUploads } from './migrations/033-followed-uploads.ts'
import { limitedLinks } from './migrations/034-limited-links.ts'
import { uploadNetworks } from './migrations/039-upload-networks.ts'
import { thumbnailTurns } from './migrations/040-thumbnail-turns.ts'
import { nodePlaces } from './migrations/042-node-places.ts'
import { folderCovers } from './migrations/043-folder-covers.ts'
import { inactiveDays } from './migrations/044-inactive-days.ts'
import { auditByAccount } from './migrations/045-audit-by-account.ts'
import { turnedPictures } from './migrations/046-turned-pictures.ts'
import { inTransaction } from './transactions.ts'

interface Migration {
  readonly sqlite: readonly string[]
  readonly postgres: readonly string[]
}

/** All migrations in order; the position is the version. */
const migrations: readonly Migration[] = [
  { sqlite: initial, postgres: [] },
  manyNodes,
  namesInIndexes,
  resumableUploads,
  thumbnails,
  reports,
  foldersByName,
  keyScopes,
  signingIn,
  bin,
  changes,
  administration,
  mail,
  addUnusedFiles,
  transactionOutcomes,
  outages,
  proofs,
  screenPictures,
  emptyUploads,
  closedFolders,
  naturalNames,
  damagedContents,
  damages,
  links,
  mirror,
  linkClaims,
  uploadLinks,
  arrivals,
  linkEvents,
  webhooks,
  { sqlite: news, postgres: news },
  contributionNames,
  followedUploads,
  limitedLinks,
  uploadNetworks,
  folderCovers,
  nodePlaces,
  thumbnailTurns,
  turnedPictures,
  inactiveDays,
  { sqlite: auditByAccount, postgres: auditByAccount },
]

/** Number of migrations, which is the schema version of this program. */
export const MIGRATIONS = migrations.length

export class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew'
}

/**
 * Migrates the database to this program's version, or an earlier one, in one transaction under a lock, so that of several
 * nodes that start together one does it. Throws DatabaseTooNew when the database's version is higher than the program's.
 */
export async function migrate(db: Database, wanted = migrations.length): Promise<void> {
  if ((await databaseVersion(db)) >= wanted) return
  await inTransaction(db, async (trx) => {
    await lockMigrations(trx)
    await sql`create table if not exists meta (key text primary key, value text not null)`.execute(trx)
    const version = await databaseVersion(trx)
    for (const migration of migrations.slice(version, wanted)) {
      for (const statement of migration[isPostgres(trx) ? 'postgres' : 'sqlite']) {
        await sql.raw(statement).execute(trx)
      }
    }
    await trx
      .insertInto('meta')
      .values({ key: 'version', value: String(wanted) })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: String(wanted) }))
      .execute()
  })
}

/** Number of migrations that the database lacks. Throws DatabaseTooNew. */
export async function missingMigrations(db: Database): Promise<number> {
  return migrations.length - (await databaseVersion(db))
}

/** Whether the database was never migrated by any Holdfast. Throws DatabaseTooNew. */
export async function isBlank(db: Database): Promise<boolean> {
  return (await databaseVersion(db)) === 0
}

/** Schema version; 0 for an empty database. Throws DatabaseTooNew. */
export async function databaseVersion(db: Queryable): Promise<number> {
  if (!(await hasMeta(db))) return 0
  const row = await db.selectFrom('meta').select('value').where('key', '=', 'version').executeTakeFirst()
  const version = Number(row?.value ?? 0)
  if (version <= migrations.length) return version
  throw new DatabaseTooNew(
    `the database has version ${version}, this program knows ${migrations.length}: install a newer Holdfast`,
  )
}

/** Kysely's introspection would read the columns of all tables. */
async function hasMeta(db: Queryable): Promise<boolean> {
  const table = isPostgres(db)
    ? sql`select 1 where to_regclass('meta') is not null`
    : sql`select 1 from sqlite_master where type = 'table' and name = 'meta'`
  return (await table.execute(db)).rows.length > 0
}
