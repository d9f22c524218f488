/**
 * Differences between SQLite and PostgreSQL. Other modules may branch on the dialect only to do with one statement what
 * SQLite does with several.
 */

import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { AccountId, FileId, Sha256 } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { type Database, isPostgres, type Queryable, type Trx } from './database.ts'
import { isUnusableStatement } from './named-statements.ts'
import { lockRowOfAccount } from './outcomes.ts'

/**
 * Locks the account's files, folders and totals until the transaction ends. Must be taken before any other
 * lock, and for several accounts in the order of their ids, to prevent deadlocks. Also enables
 * `inTransaction` to find out the outcome when the answer to the commit is lost. In SQLite a write
 * transaction is exclusive from its beginning, so there is nothing to do.
 */
export async function lockAccount(trx: Trx, account: AccountId): Promise<void> {
  const isNew = noteLock(trx, account)
  if (isPostgres(trx)) await lockRowOfAccount(trx, account, isNew)
}

/** `lockAccount`, and then `lockContent` together with other uploads. */
export async function lockForUploads(
  trx: Trx,
  account: AccountId,
  contents: readonly Sha256[],
): Promise<void> {
  const isNew = noteLock(trx, account)
  if (!isPostgres(trx)) return
  await lockRowOfAccount(trx, account, isNew, { space: CONTENTS, numbers: contents.map(lockOfContent) })
}

/** False when the transaction has locked it already. */
function noteLock(trx: Trx, account: AccountId): boolean {
  const isNew = !trx.locked.has(account)
  for (const before of trx.locked) {
    assertInvariant('accounts-are-locked-in-order', before <= account, () => `${before} before ${account}`)
  }
  trx.locked.add(account)
  return isNew
}

/** Excludes other nodes from migrations and from creating initial rows until the transaction ends. */
export async function lockMigrations(trx: Trx): Promise<void> {
  if (isPostgres(trx)) await sql`select pg_advisory_xact_lock(${MIGRATIONS})`.execute(trx)
}

/** Excludes others from adding entries of the audit log that are counted before, until the transaction ends. */
export async function lockAudit(trx: Trx): Promise<void> {
  if (isPostgres(trx)) await sql`select pg_advisory_xact_lock(${AUDIT})`.execute(trx)
}

/**
 * Locks the decision whether the content is blocked until the transaction ends. Uploads share the lock;
 * blocking a content takes it exclusively, and so waits for all uploads that were admitted before.
 */
export async function lockContent(trx: Trx, sha256: Sha256, as: 'together' | 'alone'): Promise<void> {
  if (!isPostgres(trx)) return
  const lock = sql.raw(as === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared')
  await sql`select ${lock}(${CONTENTS}::integer, ${lockOfContent(sha256)}::integer)`.execute(trx)
}

/** Advisory locks have 32 bits for a content; a collision only causes a short wait. */
function lockOfContent(sha256: Sha256): number {
  return Number.parseInt(sha256.slice(0, 8), 16) | 0
}

/** Arbitrary number in the two-argument namespace of advisory locks: "blob" in ASCII. */
const CONTENTS = 0x626c6f62

/** Arbitrary number in the one-argument namespace of advisory locks: "audi" in ASCII. */
const AUDIT = 0x61756469

/** Arbitrary number in the one-argument namespace of advisory locks: "hold" in ASCII. */
const MIGRATIONS = 0x686f6c64

/** Suffix for a query that locks the selected rows until the transaction ends. */
export function forUpdate(trx: Queryable): RawBuilder<unknown> {
  return isPostgres(trx) ? sql`for update` : sql``
}

/** The greater of the column and `value`. */
export function greatest(db: Queryable, column: string, value: number): RawBuilder<number> {
  const name = isPostgres(db) ? sql.raw('greatest') : sql.raw('max')
  return sql<number>`${name}(${sql.ref(column)}, ${value})`
}

/** A sum as an integer, 0 for no rows. Without the cast PostgreSQL returns an arbitrary-precision decimal. */
export function wholeSum(db: Queryable, summand: string | RawBuilder<number>): RawBuilder<number> {
  const type = isPostgres(db) ? sql.raw('bigint') : sql.raw('integer')
  return sql<number>`cast(coalesce(sum(${typeof summand === 'string' ? sql.ref(summand) : summand}), 0) as ${type})`
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Whether an insert or update violated a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  return ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505'].includes(codeOf(error))
}

/**
 * Whether the transaction lost a conflict, or a prepared statement could not be used, and was rolled back: it may be
 * retried.
 */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error)) || isUnusableStatement(error)
}

/** Whether the disk under the database has no room for what was to be written. */
export function isFull(error: unknown): boolean {
  return /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|53100)/.test(codeOf(error))
}

/** Whether the database gave the statement up because it took too long. */
export function isTooSlow(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** Whether the server takes no writes, as one that is a standby now. */
export function isReadOnlyServer(error: unknown): boolean {
  return codeOf(error) === '25006'
}

/** The database answers nothing, on any connection. */
export class DatabaseSilent extends Error {
  override readonly name = 'DatabaseSilent'
  readonly code = 'ETIMEDOUT'

  constructor() {
    super('the database does not answer')
  }
}

/** The answer to a commit was lost, and the database did not come back in time to tell whether it went through. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** Whether the database is full, read-only or unreachable, as opposed to a bug. */
export function isDatabaseFailure(error: unknown): boolean {
  if (error instanceof OutcomeUnknown) return true
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  // SQLSTATE classes: connection, transaction rollback, resources, operator intervention, system error.
  const isAway = /^(08|40|53|55P03|57|58|25P03|25006|XX)/.test(code)
  const isUnreachable = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_)/.test(code)
  return (
    /^SQLITE_(FULL|IOERR|BUSY|READONLY|CANTOPEN|CORRUPT|NOTADB)/.test(code) ||
    isAway ||
    isUnreachable ||
    // Errors that the driver raises itself have no code.
    /Connection terminated|Query read timeout|timeout exceeded when trying to connect|connection timeout|not queryable/i.test(
      error.message,
    )
  )
}

/**
 * The first files, of any owner, whose folded names match the needle in SQLite's trigram index; null where
 * the index cannot help. PostgreSQL's planner chooses its own index.
 */
export function indexedNames(db: Database, needle: string, limit: number): RawBuilder<FileId> | null {
  // Shorter needles have no trigram, and FTS5 reads its query text only up to a NUL.
  if (isPostgres(db) || [...needle].length < 3 || needle.includes('\0')) return null
  const phrase = `"${needle.replaceAll('"', '""')}"`
  return sql<FileId>`(select rowid from file_names where file_names match ${phrase} limit ${limit})`
}

/**
 * PostgreSQL's estimate of how many rows the query returns; only plans the query. Null on SQLite, which keeps
 * no such statistics.
 */
export async function expectedRows(db: Database, query: Expression<unknown>): Promise<number | null> {
  if (!isPostgres(db)) return null
  const { rows } = await sql<Explanation>`explain (format json) ${query}`.execute(db)
  const [plan] = rows[0]?.['QUERY PLAN'] ?? []
  if (plan === undefined) throw new Error('PostgreSQL has no plan')
  return plan.Plan['Plan Rows']
}

interface Explanation {
  readonly 'QUERY PLAN': readonly { readonly Plan: { readonly 'Plan Rows': number } }[]
}

/**
 * Whether rows that an offset skips are passed over in the index that gives the order. PostgreSQL looks at each of
 * them, unless a query of its own finds the ids of the page.
 */
export function skipsInIndex(db: Queryable): boolean {
  return !isPostgres(db)
}

/**
 * A value that the planner does not see, for statements whose best plan is the same for every value. SQLite plans a statement
 * anew whenever a value is bound that it has seen; PostgreSQL does so where a plan for this value alone looks cheaper.
 */
export function hiddenFromPlanner<T extends number>(db: Queryable, value: T): RawBuilder<T> {
  return isPostgres(db) ? sql<T>`(select ${value}::bigint)` : sql<T>`+${value}`
}

/** The same for a key that joined rows are looked up by: PostgreSQL keeps the plan for that by itself. */
export function hiddenFromSqlite<T extends number | string>(db: Queryable, value: T): RawBuilder<T> {
  return isPostgres(db) ? sql<T>`${value}` : sql<T>`+${value}`
}

/**
 * For PostgreSQL: whether the column's value is one of the ids, which are few. Whatever it expects of the query, it looks each
 * of them up in the column's index.
 */
export function isAmong(column: string, ids: Expression<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} = any(array(${ids}))`
}

/** The column, in a form for which no index is used. */
export function withoutIndex<T>(column: string): RawBuilder<T> {
  return sql<T>`+${sql.ref(column)}`
}

/** Whether the file's folded name contains the folded needle. */
export function nameContains(db: Database, needle: string): RawBuilder<SqlBool> {
  if (!isPostgres(db)) return sql<SqlBool>`instr(files.name_folded, ${needle}) > 0`
  // PostgreSQL stores no NUL in texts, so no name contains one.
  if (needle.includes('\0')) return sql<SqlBool>`false`
  const pattern = `%${needle.replace(/[\\%_]/g, '\\$&')}%`
  return sql<SqlBool>`files.name_folded like ${pattern}`
}

/** Lets the transaction take any time between its statements. */
export async function disableIdleTimeout(trx: Trx): Promise<void> {
  if (isPostgres(trx)) await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
}

/** Locks the tables against changes until the transaction ends, which may take any time. */
export async function lockTables(trx: Trx, tables: readonly string[]): Promise<void> {
  if (!isPostgres(trx)) return
  await disableIdleTimeout(trx)
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in share mode`.execute(trx)
}

/** Deletes all rows of the tables, which must be listed with referencing tables before referenced ones. */
export async function emptyTables(trx: Trx, tables: readonly string[]): Promise<void> {
  if (isPostgres(trx)) {
    await sql`truncate table ${sql.join(tables.map((table) => sql.table(table)))}`.execute(trx)
    return
  }
  for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(trx)
}

/**
 * Defers foreign keys between folders to the end of the work or the commit, so that a folder may be inserted
 * before its parent.
 */
export async function withParentsLater(trx: Trx, work: () => Promise<void>): Promise<void> {
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

/** Highest id that the table has ever assigned, or null. Ids of deleted rows are never reused. */
export async function lastId(db: Queryable, table: string): Promise<number | null> {
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

/** Makes the table assign ids greater than `last`. */
export async function setLastId(trx: Trx, table: string, last: number): Promise<void> {
  if (isPostgres(trx)) {
    const sequence = sql`pg_get_serial_sequence(${table}, 'id')::regclass`
    // A sequence starts at 1, although the row of all guests has the id 0.
    await sql`select setval(${sequence}, ${Math.max(last, 1)}, ${last > 0})`.execute(trx)
    return
  }
  await sql`delete from sqlite_sequence where name = ${table}`.execute(trx)
  await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(trx)
}
