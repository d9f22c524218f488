/** Migrations of databases with very many files. */
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { measureMigrations } from '../../src/operations/migration-time.ts'
import { withNextVersion } from '../support/databases/next-version.ts'
import { makeOldDatabase } from '../support/databases/old-database.ts'
import { createDatabase } from '../support/databases/postgres.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { unsoundTotals } from '../support/storage/soundness.ts'

/** All migrations at once, up to a made-up one; says what they took, and what a copy had promised. */
export async function bigMigrations(files: number): Promise<string> {
  return `SQLite: ${await onSqlite(files)}\nPostgreSQL: ${await onPostgres(files)}`
}

async function onSqlite(files: number): Promise<string> {
  using folder = temporaryFolder('/var/tmp')
  await using stack = new AsyncDisposableStack()
  const db = stack.adopt(openSqlite(join(folder.path, 'holdfast.sqlite')), (it) => it.destroy())
  await makeOldDatabase(db, files)
  return await allAtOnce(db, { HOLDFAST_DATA_DIR: folder.path }, files)
}

async function onPostgres(files: number): Promise<string> {
  const options = { connections: 2, durable: true, isPatient: true, report() {} }
  await using stack = new AsyncDisposableStack()
  const database = stack.adopt(await createDatabase(), (it) => it.drop())
  const db = stack.adopt(openPostgres(database.url, options), (it) => it.destroy())
  await makeOldDatabase(db, files)
  return await allAtOnce(db, { HOLDFAST_DATABASE_URL: database.url }, files)
}

async function allAtOnce(
  db: Database,
  settings: Readonly<Record<string, string>>,
  files: number,
): Promise<string> {
  using _ = withNextVersion()
  const parts = { config: loadConfig(settings), clock: systemClock, random: systemRandom }
  const found = await measureMigrations(parts, () => {})
  if (found.kind !== 'measured') throw new Error('the copy was not made')
  const seconds = await secondsOf(() => migrate(db))
  await expectWhole(db, files)
  return `all at once ${seconds.toFixed(1)} s, on a copy ${(found.migrating / 1000).toFixed(1)} s and ${(found.copying / 1000).toFixed(1)} s to make it`
}

async function expectWhole(db: Database, files: number): Promise<void> {
  const wrong = await unsoundTotals(db)
  const { count } = await db
    .selectFrom('files')
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count < files) wrong.push(`${count} files are left of ${files}`)
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}
