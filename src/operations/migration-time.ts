import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { writeRows } from '../contents/copied.rows.ts'
import { makeScratch } from '../contents/scratch.ts'
import type { Database } from '../database/database.ts'
import { databaseVersion, migrate } from '../database/migrate.ts'
import { connect, type OpenDatabase, openCopy, openRows, type StorageOptions } from '../storage.ts'
import { copyTableRows, currentSchema, dropSchema, makeSchema, tableBytes } from './migration-copy.rows.ts'

/** Schema of the copy in PostgreSQL; replaces one left by a killed run. */
const SCHEMA = 'holdfast_migration_copy'
/** Free space needed, in sizes of SQLite's file: the copy, its WAL, and rebuilt tables. */
const COPIES = 3

export type MigrationTime =
  | {
      readonly kind: 'measured'
      /** Milliseconds. */
      readonly copying: number
      /** Milliseconds. */
      readonly migrating: number
    }
  | { readonly kind: 'no room'; readonly folder: string; readonly needed: number; readonly free: number }

/** Changes nothing that a server uses, and leaves nothing behind. `begins` receives the bytes to be copied. */
export async function measureMigrations(
  parts: StorageOptions,
  begins: (bytes: number) => void,
): Promise<MigrationTime> {
  const database = await connect({ ...parts, report() {} })
  const { clock, config } = parts
  const timed = async (work: () => Promise<void>) => {
    const begun = clock.monotonic()
    await work()
    return clock.monotonic() - begun
  }
  try {
    return config.databaseUrl === null
      ? await measureFile(database, config.dataDir, { begins, timed })
      : await measureSchema(database.db, config.databaseUrl, { begins, timed })
  } finally {
    await database.close()
  }
}

interface Told {
  readonly begins: (bytes: number) => void
  /** Milliseconds. */
  readonly timed: (work: () => Promise<void>) => Promise<number>
}

async function measureFile(
  { db, freeSpace }: OpenDatabase,
  folder: string,
  { begins, timed }: Told,
): Promise<MigrationTime> {
  const bytes = await fileBytes(db)
  const [needed, free] = [bytes * COPIES, await freeSpace()]
  if (free !== null && free < needed) return { kind: 'no room', folder, needed, free }
  begins(bytes)
  // On the database's own disk, for its speed.
  const scratch = await makeScratch(folder)
  try {
    const path = join(scratch, 'copy.sqlite')
    const copying = await timed(() => writeRows(db, path))
    const copy = openRows(path)
    try {
      return { kind: 'measured', copying, migrating: await timed(() => migrate(copy)) }
    } finally {
      await copy.destroy()
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function fileBytes(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count, pragma_page_size`.execute(db)
  return rows[0]?.bytes ?? 0
}

async function measureSchema(db: Database, url: string, { begins, timed }: Told): Promise<MigrationTime> {
  const [from, version] = [await currentSchema(db), await databaseVersion(db)]
  begins(await tableBytes(db))
  const copy = await openCopy(url, SCHEMA, from)
  try {
    const copying = await timed(async () => {
      await makeSchema(copy, SCHEMA)
      await migrate(copy, version)
      await copyTableRows(copy, from, SCHEMA)
    })
    return { kind: 'measured', copying, migrating: await timed(() => migrate(copy)) }
  } finally {
    await dropSchema(copy, SCHEMA)
    await copy.destroy()
  }
}
