/** A copy of a PostgreSQL database in a schema of its own, beside the server's tables. */
import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'

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
