/** Where SQLite and PostgreSQL differ, and the only place where they may. */

import { type Expression, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { AccountId, FileId, Sha256 } from '../domain/ids.ts'
import { lockRowOfAccount } from './outcomes.ts'
import type { Db } from './schema.ts'

export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

/**
 * Until the transaction ends, nobody else changes the account's files, folders or totals. To be asked for before
 * anything else, and for several accounts in the order of their ids, so that no two wait for each other. It also lets
 * `inTransaction` find out what became of the transaction when the answer to its commit is lost.
 * In SQLite a transaction is alone from its beginning, so there is nothing to do.
 */
export async function lockAccount(trx: Db, account: AccountId): Promise<void> {
  if (isPostgres(trx)) await lockRowOfAccount(trx, account)
}

/** Until the transaction ends, no other node migrates or makes the rows that every database begins with. */
export async function lockMigrations(trx: Db): Promise<void> {
  if (isPostgres(trx)) await sql`select pg_advisory_xact_lock(${MIGRATIONS})`.execute(trx)
}

/**
 * Until the transaction ends, it stays decided whether the content is refused. Those who take it in hold the decision
 * together; whoever refuses it has to be alone, and so has waited for all who took it in before.
 */
export async function lockContent(trx: Db, sha256: Sha256, as: 'together' | 'alone'): Promise<void> {
  if (!isPostgres(trx)) return
  const lock = sql.raw(as === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared')
  // As many bits of it as such a lock has: another content that has the same waits a moment.
  const number = Number.parseInt(sha256.slice(0, 8), 16) | 0
  await sql`select ${lock}(${CONTENTS}::integer, ${number}::integer)`.execute(trx)
}

/** Another arbitrary number, of the other kind of locks. */
const CONTENTS = 0x626c6f62

/** An arbitrary number that nobody else uses: "hold" in ASCII. */
const MIGRATIONS = 0x686f6c64

/** Ends a query whose rows nobody else may change until the transaction ends. */
export function forUpdate(trx: Db): RawBuilder<unknown> {
  return isPostgres(trx) ? sql`for update` : sql``
}

/** The greater of a column's value and `value`. */
export function greatest(db: Db, column: string, value: number): RawBuilder<number> {
  const name = isPostgres(db) ? sql.raw('greatest') : sql.raw('max')
  return sql<number>`${name}(${sql.ref(column)}, ${value})`
}

/** A sum as a whole number, 0 for no rows. PostgreSQL would answer a decimal number of any length. */
export function wholeSum(db: Db, column: string): RawBuilder<number> {
  const type = isPostgres(db) ? sql.raw('bigint') : sql.raw('integer')
  return sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as ${type})`
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** A new row lost against one that is there already. */
export function isUniqueViolation(error: unknown): boolean {
  return ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505'].includes(codeOf(error))
}

/** The transaction lost against another one and changed nothing: it may be tried again. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error))
}

/** The database has no room left, cannot be written or is away, as opposed to a mistake of ours. */
export function isDatabaseFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  // PostgreSQL's classes: connection, transaction lost, no resources, operator intervention, system.
  const isAway = /^(08|40|53|55P03|57|58|25P03|25006|XX)/.test(code)
  const isUnreachable = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_)/.test(code)
  return (
    /^SQLITE_(FULL|IOERR|BUSY|READONLY|CANTOPEN|CORRUPT|NOTADB)/.test(code) ||
    isAway ||
    isUnreachable ||
    // The driver gives what it notices itself no code.
    /Connection terminated|Query read timeout|timeout exceeded when trying to connect|connection timeout|not queryable/i.test(
      error.message,
    )
  )
}

/**
 * The first files in whose folded names the trigram index of SQLite finds the folded needle, whoever owns them; null
 * where it cannot help. PostgreSQL finds out by itself when its own index does.
 */
export function indexedNames(db: Db, needle: string, limit: number): RawBuilder<FileId> | null {
  // Shorter needles have no trigram, and FTS5 reads its query text up to a NUL only.
  if (isPostgres(db) || [...needle].length < 3 || needle.includes('\0')) return null
  const phrase = `"${needle.replaceAll('"', '""')}"`
  return sql<FileId>`(select rowid from file_names where file_names match ${phrase} limit ${limit})`
}

/**
 * About how many rows the query finds, by what PostgreSQL knows of the tables; asks for a plan alone. Null from SQLite,
 * which keeps no such figures.
 */
export async function expectedRows(db: Db, query: Expression<unknown>): Promise<number | null> {
  if (!isPostgres(db)) return null
  const { rows } = await sql<Explanation>`explain (format json) ${query}`.execute(db)
  const [plan] = rows[0]?.['QUERY PLAN'] ?? []
  if (plan === undefined) throw new Error('PostgreSQL has no plan')
  return plan.Plan['Plan Rows']
}

interface Explanation {
  readonly 'QUERY PLAN': readonly { readonly Plan: { readonly 'Plan Rows': number } }[]
}

/** The column, in a condition that no index is to be used for. */
export function withoutIndex<T>(column: string): RawBuilder<T> {
  return sql<T>`+${sql.ref(column)}`
}

/** The file's folded name holds the folded needle. */
export function nameHolds(db: Db, needle: string): RawBuilder<SqlBool> {
  if (!isPostgres(db)) return sql<SqlBool>`instr(files.name_folded, ${needle}) > 0`
  // PostgreSQL takes no NUL in a text, so no name has one.
  if (needle.includes('\0')) return sql<SqlBool>`false`
  const pattern = `%${needle.replace(/[\\%_]/g, '\\$&')}%`
  return sql<SqlBool>`files.name_folded like ${pattern}`
}

/** Until the transaction ends, nobody else changes these tables, and it may take as long as it takes. */
export async function holdStill(trx: Db, tables: readonly string[]): Promise<void> {
  if (!isPostgres(trx)) return
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in share mode`.execute(trx)
}

/** Removes every row of the tables. Whatever points to another table's rows comes before that one. */
export async function emptyTables(trx: Db, tables: readonly string[]): Promise<void> {
  if (isPostgres(trx)) {
    await sql`truncate table ${sql.join(tables.map((table) => sql.table(table)))}`.execute(trx)
    return
  }
  for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(trx)
}

/** In the work a folder may come before its parent. That all are there is checked when it is done, or at the commit. */
export async function withParentsLater(trx: Db, work: () => Promise<void>): Promise<void> {
  if (!isPostgres(trx)) {
    await sql`pragma defer_foreign_keys = on`.execute(trx)
    return work()
  }
  const constraint = sql`alter table folders alter constraint folders_parent_id_fkey`
  await sql`${constraint} deferrable initially deferred`.execute(trx)
  await work()
  await sql`set constraints all immediate`.execute(trx)
  await sql`${constraint} not deferrable`.execute(trx)
}

/** The greatest id that the table has ever given out, or null. Ids are not given twice, also those of rows long gone. */
export async function lastId(db: Db, table: string): Promise<number | null> {
  const { rows } = await (isPostgres(db)
    ? sql<{ last: number | null }>`
        select greatest(
          pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass),
          (select max(id) from ${sql.table(table)})
        ) as last`
    : sql<{ last: number | null }>`select seq as last from sqlite_sequence where name = ${table}`
  ).execute(db)
  return rows[0]?.last ?? null
}

/** The table's next id will be greater than `last`. */
export async function setLastId(trx: Db, table: string, last: number): Promise<void> {
  if (isPostgres(trx)) {
    const sequence = sql`pg_get_serial_sequence(${table}, 'id')::regclass`
    // A sequence begins at 1, while the row of all guests has the id 0.
    await sql`select setval(${sequence}, ${Math.max(last, 1)}, ${last > 0})`.execute(trx)
    return
  }
  await sql`delete from sqlite_sequence where name = ${table}`.execute(trx)
  await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(trx)
}
