/** Databases with this program's tables, copied from a migrated template. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseError } from 'pg'
import { migrate, migrations } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { createDatabase, renameDatabase, type TestDatabase } from './postgres.ts'

/** PostgreSQL's error codes. */
const UNDEFINED_DATABASE = '3D000'
const DUPLICATE_DATABASE = '42P04'
const UNIQUE_VIOLATION = '23505'

let sqliteModel: Promise<Uint8Array> | null = null

/** Writes a SQLite file for tests that are not about migrations, which are half of what a server does to start. */
export async function writeMigratedSqlite(path: string): Promise<void> {
  sqliteModel ??= makeSqliteModel()
  await writeFile(path, await sqliteModel, { mode: 0o600, flag: 'wx' })
}

async function makeSqliteModel(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  try {
    const path = join(folder, 'holdfast.sqlite')
    const db = openSqlite(path)
    try {
      await migrate(db)
    } finally {
      await db.destroy()
    }
    return readFileSync(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * A PostgreSQL database for tests that are not about migrations, which take longer than most tests. The first call creates
 * the template, which stays on the server.
 */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  const model = `holdfast_test_model_${digestOfMigrations()}`
  try {
    return await createDatabase({ copyOf: model })
  } catch (error) {
    if (!isOneOf(error, UNDEFINED_DATABASE)) throw error
  }
  await makeModel(model)
  return createDatabase({ copyOf: model })
}

async function makeModel(model: string): Promise<void> {
  const made = await createDatabase()
  const db = openPostgres(made.url, { connections: 1, durable: true, isPatient: true, report() {} })
  try {
    await migrate(db)
  } finally {
    await db.destroy()
  }
  try {
    await renameDatabase(made, model)
  } catch (error) {
    await made.drop()
    // Another process has created it first.
    if (!isOneOf(error, DUPLICATE_DATABASE, UNIQUE_VIOLATION)) throw error
  }
}

/** Gives a long-running server a separate template for every state of the migrations. */
function digestOfMigrations(): string {
  return Bun.SHA256.hash(JSON.stringify(migrations), 'hex').slice(0, 16)
}

function isOneOf(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof DatabaseError && error.code !== undefined && codes.includes(error.code)
}
