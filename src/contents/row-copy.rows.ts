import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { emptyTables, lastId, lockTables, setLastId, withParentsLater } from '../database/differences.ts'
import type { Tables } from '../database/schema.ts'
import { inSnapshot, inTransaction } from '../database/transactions.ts'
import { GUESTS } from '../domain/ids.ts'

type Row = Readonly<Record<string, string | number | null>>

interface CopiedTable {
  /** In whose order it is copied. */
  readonly key: readonly string[]
  readonly hasIds?: true
  /** Rejects deletions: an interrupted copy continues after its rows. */
  readonly isOnlyAddedTo?: true
  readonly change?: (row: Row) => Row
}

/**
 * Tables that are not copied. The target has its own schema version; other keys of `meta` are copied individually.
 * Nodes, jobs, unfinished uploads and pending sign-ins end with the servers. The database maintains its search index
 * itself.
 */
type NotCopied = 'meta' | 'nodes' | 'jobs' | 'reservations' | 'uploads' | 'verifications' | 'file_names'

/** Referenced tables come before those that reference them. */
const copied = {
  accounts: { key: ['id'], hasIds: true, change: (row) => ({ ...row, storage_reserved: 0 }) },
  api_keys: { key: ['id'], hasIds: true },
  folders: { key: ['id'], hasIds: true },
  folder_covers: { key: ['uuid'] },
  // Before contents: deleting those queues their copies.
  mirror_garbage: { key: ['key'] },
  blobs: { key: ['id'], hasIds: true },
  thumbnails: { key: ['blob_id'], change: (row) => ({ ...row, node: null }) },
  files: { key: ['id'], hasIds: true },
  bin: { key: ['id'], hasIds: true },
  changes: { key: ['id'], hasIds: true },
  blob_garbage: { key: ['key'] },
  rate_windows: { key: ['subject'] },
  request_days: { key: ['account_id', 'day'] },
  idempotency_keys: { key: ['caller', 'hash'] },
  reports: { key: ['id'], hasIds: true },
  days: { key: ['day'] },
  outages: { key: ['id'], hasIds: true },
  refused_contents: { key: ['sha256'] },
  audit_log: { key: ['id'], hasIds: true, isOnlyAddedTo: true },
  sessions: { key: ['id'], hasIds: true },
  identities: { key: ['id'], hasIds: true },
  passkeys: { key: ['id'], hasIds: true },
  two_factors: { key: ['id'], hasIds: true },
  one_time_links: { key: ['token_hash'] },
  mail_addresses: { key: ['account_id'] },
  mails: { key: ['id'], hasIds: true },
  reset_requests: { key: ['id'], hasIds: true },
  damages: { key: ['id'], hasIds: true },
  file_warnings: { key: ['id'], hasIds: true },
  links: { key: ['id'], hasIds: true },
  transfers: { key: ['folder_id'] },
  link_targets: { key: ['link_id', 'position'] },
  link_slots: { key: ['id'], hasIds: true },
  link_uploads: { key: ['link_id'] },
  contributions: { key: ['id'], hasIds: true },
  link_events: { key: ['id'], hasIds: true },
  webhooks: { key: ['id'], hasIds: true },
  webhook_deliveries: { key: ['id'], hasIds: true },
} as const satisfies Record<Exclude<keyof Tables, NotCopied>, CopiedTable>

const emptied = Object.entries<CopiedTable>(copied)
  .filter(([, { isOnlyAddedTo }]) => isOnlyAddedTo !== true)
  .map(([table]) => table)
  .reverse()

const tables: readonly (readonly [string, CopiedTable])[] = Object.entries(copied)

const unfinished = ['reservations', 'uploads']

/** Below the limit of parameters in one statement, even for the widest table. */
const BATCH = 500

export interface RowCopy {
  readonly from: Database
  readonly to: Database
  readonly ownMeta: readonly string[]
  /** The store is not moved: copy its thumbnails and garbage too. */
  readonly sameStore: boolean
  /** Called with every batch. May throw to stop the copy. */
  readonly onRows: (step: 'copied' | 'compared', count: number) => Promise<void>
}

/** Replaces the rows of `to`, with `from` locked, and compares each. An interrupted copy must be repeated whole. */
export async function copyRows(copy: RowCopy): Promise<void> {
  const { from, to, sameStore } = copy
  await inTransaction(from, async (source) => {
    await lockTables(source, ['meta', ...unfinished, ...Object.keys(copied)])
    await copyFrom(source, copy)
    if (sameStore) await uploadsToGarbage(source, to)
  })
}

/** As `copyRows`, from a snapshot, while servers change `from`. */
export async function copySnapshot(copy: RowCopy): Promise<void> {
  await inSnapshot(copy.from, (source) => copyFrom(source, copy))
}

async function copyFrom(source: Trx, copy: RowCopy): Promise<void> {
  const { to } = copy
  await inTransaction(to, (trx) => emptyTables(trx, [...unfinished, ...emptied]))
  for (const [table, { hasIds }] of tables) {
    await copyTable({ ...copy, from: source }, table)
    const last = hasIds ? await lastId(source, table) : null
    if (last !== null) await inTransaction(to, (trx) => setLastId(trx, table, last))
  }
  await copyMeta({ ...copy, from: source })
  for (const [table] of tables) await compareTable({ ...copy, from: source }, table)
}

type RowCopyStep = Omit<RowCopy, 'from'> & { readonly from: Trx }

export async function countRows(db: Database, { sameStore }: Pick<RowCopy, 'sameStore'>): Promise<number> {
  let count = 0
  for (const [table] of tables) {
    if (isLeftOut(table, sameStore)) continue
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
      db,
    )
    count += rows[0]?.count ?? 0
  }
  return count
}

/** Ignores the initial rows of a schema. */
export async function holdsNothing(db: Database): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select
      (select count(*) from (select 1 from files limit 1) as f)
      + (select count(*) from (select 1 from blobs limit 1) as b)
      + (select count(*) from (select 1 from blob_garbage limit 1) as g)
      + (select count(*) from (select 1 from folders where parent_id is not null limit 1) as d)
      + (select count(*) from (select 1 from accounts where id <> ${GUESTS} limit 1) as a)
      + (select count(*) from (select 1 from audit_log limit 1) as l)
      as count`.execute(db)
  return rows[0]?.count === 0
}

/** Thumbnails and garbage rows are only useful with the store that holds the bytes. */
function isLeftOut(table: string, sameStore: boolean): boolean {
  return (table === 'blob_garbage' || table === 'thumbnails') && !sameStore
}

async function copyTable({ from, to, sameStore, onRows }: RowCopyStep, name: string): Promise<void> {
  if (isLeftOut(name, sameStore)) return
  const isKept = tables.find(([table]) => table === name)?.[1].isOnlyAddedTo === true
  const present = isKept ? await lastRow(to, name) : undefined
  const copy = async (write: (rows: readonly Row[]) => Promise<void>) => {
    for await (const rows of batches(from, name, present)) {
      await write(rows)
      await onRows('copied', rows.length)
    }
  }
  if (name !== 'folders') return copy((rows) => inTransaction(to, (trx) => insertRows(trx, name, rows)))
  // A moved folder may have a parent with a higher id.
  await inTransaction(to, (trx) => withParentsLater(trx, () => copy((rows) => insertRows(trx, name, rows))))
}

async function compareTable({ from, to, sameStore, onRows }: RowCopyStep, name: string): Promise<void> {
  if (isLeftOut(name, sameStore)) return
  const arrived = batches(to, name)
  let isMore = false
  for await (const rows of batches(from, name)) {
    const { value: others = [] } = await arrived.next()
    for (const [at, row] of rows.entries()) assertSame(name, row, others[at])
    isMore ||= others.length > rows.length
    await onRows('compared', rows.length)
  }
  isMore ||= (await arrived.next()).done !== true
  if (isMore) throw new Error(`the copy of the table ${name} has unexpected rows`)
}

function assertSame(name: string, row: Row, other: Row | undefined): void {
  const wrong = Object.keys(row).filter((column) => other?.[column] !== row[column])
  if (wrong.length === 0) return
  const key = keyOf(name).map((column) => row[column])
  throw new Error(`the row ${key.join(' ')} of ${name} arrived with another ${wrong.join(', ')}`)
}

async function lastRow(db: Database, name: string): Promise<Row | undefined> {
  const key = sql.join(keyOf(name).map((column) => sql`${sql.ref(column)} desc`))
  const { rows } = await sql<Row>`select * from ${sql.table(name)} order by ${key} limit 1`.execute(db)
  return rows[0]
}

/** In key order, with `change` applied. */
async function* batches(db: Queryable, name: string, after?: Row): AsyncGenerator<readonly Row[], undefined> {
  const columns = keyOf(name)
  const key = sql.join(columns.map((column) => sql.ref(column)))
  const change = tables.find(([table]) => table === name)?.[1].change ?? ((row: Row) => row)
  const beyond = (row: Row) => sql`where (${key}) > (${sql.join(columns.map((column) => row[column]))})`
  let where = after === undefined ? sql`` : beyond(after)
  for (;;) {
    const { rows } = await sql<Row>`
      select * from ${sql.table(name)} ${where} order by ${key} limit ${BATCH}`.execute(db)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map((row) => storable(change(row)))
    if (rows.length < BATCH) return
    where = beyond(last)
  }
}

/** Replaces NUL, which SQLite stores in texts and PostgreSQL refuses, by U+FFFD. */
function storable(row: Row): Row {
  const isStorable = Object.values(row).every((value) => typeof value !== 'string' || !value.includes('\0'))
  if (isStorable) return row
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value,
    ]),
  )
}

function keyOf(name: string): readonly string[] {
  return tables.find(([table]) => table === name)?.[1].key ?? []
}

async function insertRows(trx: Trx, name: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
  const names = sql.join(columns.map((column) => sql.ref(column)))
  await sql`insert into ${sql.table(name)} (${names}) values ${sql.join(values)}`.execute(trx)
}

async function copyMeta({ from, to, ownMeta }: RowCopyStep): Promise<void> {
  const own = ['version', ...ownMeta]
  const rows = await from.selectFrom('meta').selectAll().where('key', 'not in', own).execute()
  await inTransaction(to, async (trx) => {
    await trx.deleteFrom('meta').where('key', 'not in', own).execute()
    if (rows.length > 0) await trx.insertInto('meta').values(rows).execute()
  })
}

/** The database that will own the store removes the bytes of unfinished uploads. */
async function uploadsToGarbage(from: Trx, to: Database): Promise<void> {
  for (const table of ['reservations', 'uploads'] as const) {
    const left = await from
      .selectFrom(table)
      .leftJoin('blobs', 'blobs.key', `${table}.key`)
      .select(`${table}.key`)
      .where('blobs.key', 'is', null)
      .execute()
    for (let at = 0; at < left.length; at += BATCH) {
      await to
        .insertInto('blob_garbage')
        .values(left.slice(at, at + BATCH).map(({ key }) => ({ key, due_at: 0 })))
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute()
    }
  }
}
