import { join } from 'node:path'
import { sql } from 'kysely'
import { writeRows } from '../contents/copied.rows.ts'
import { makeScratch } from '../contents/scratch.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { databaseVersion, migrate } from '../database/migrate.ts'
import { inTransaction } from '../database/transactions.ts'
import { disposing } from '../domain/disposing.ts'
import { connect, type OpenDatabase, openCopy, openRows, type StorageOptions } from '../storage.ts'

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
  return disposing(async (open) => {
    const scratch = open.use(await makeScratch(folder))
    const path = join(scratch.path, 'copy.sqlite')
    const copying = await timed(() => writeRows(db, path))
    const copy = open.use(openRows(path))
    return { kind: 'measured', copying, migrating: await timed(() => migrate(copy)) }
  })
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

/** A copy of a PostgreSQL database in a schema of its own, beside the server's tables. */

/** With indexes. */
export async function tableBytes(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select cast(coalesce(sum(pg_total_relation_size(oid)), 0) as bigint) as bytes from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(db)
  return rows[0]?.bytes ?? 0
}

export async function currentSchema(db: Queryable): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db)
  return rows[0]?.name ?? 'public'
}

export async function makeSchema(db: Database, schema: string): Promise<void> {
  await dropSchema(db, schema)
  await sql`create schema ${sql.id(schema)}`.execute(db)
  await sql`create table ${sql.id(schema, 'meta')} (key text primary key, value text not null)`.execute(db)
}

export async function dropSchema(db: Database, schema: string): Promise<void> {
  await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db)
}

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/**
 * Copies a snapshot into the empty tables of the other schema, which must have an equal version. Drops their foreign
 * keys meanwhile, since tables refer to each other in circles.
 */
export async function copyTableRows(db: Database, from: string, to: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`set transaction isolation level repeatable read`.execute(trx)
    const { rows: keys } = await sql<ForeignKey>`
      select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'f' and connamespace = ${to}::regnamespace`.execute(trx)
    for (const { table, name } of keys)
      await sql`alter table ${sql.raw(table)} drop constraint ${sql.id(name)}`.execute(trx)
    for (const { table, columns } of await tablesOf(trx, to)) {
      const names = sql.join(columns.map((column) => sql.id(column)))
      await sql`delete from ${sql.id(to, table)}`.execute(trx)
      await sql`insert into ${sql.id(to, table)} (${names}) overriding system value
        select ${names} from ${sql.id(from, table)}`.execute(trx)
    }
    for (const { table, name, definition } of keys)
      await sql`alter table ${sql.raw(table)} add constraint ${sql.id(name)} ${sql.raw(definition)}`.execute(
        trx,
      )
    await continueNumbers(trx, to)
  })
  await sql`analyze`.execute(db)
}

interface TableColumns {
  readonly table: string
  readonly columns: readonly string[]
}

async function tablesOf(trx: Trx, schema: string): Promise<TableColumns[]> {
  const { rows } = await sql<TableColumns>`
    select table_name as "table", json_agg(column_name order by ordinal_position) as columns
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = ${schema} and table_type = 'BASE TABLE' and is_generated = 'NEVER'
    group by table_name`.execute(trx)
  return rows
}

/** Identity columns continue after the copied ids. */
async function continueNumbers(trx: Trx, schema: string): Promise<void> {
  const { rows } = await sql<{ table: string; column: string }>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = ${schema} and is_identity = 'YES'`.execute(trx)
  for (const { table, column } of rows)
    await sql`select setval(
      pg_get_serial_sequence(${`${schema}.${table}`}, ${column}),
      (select coalesce(max(${sql.id(column)}), 0) + 1 from ${sql.id(schema, table)}), false
    )`.execute(trx)
}
