/** All rows of one database to another, of either kind, as they are. */
import { sql } from 'kysely'
import { GUESTS } from '../domain/ids.ts'
import { emptyTables, holdStill, lastId, setLastId, withParentsLater } from './differences.ts'
import type { Db, Tables } from './schema.ts'
import { inTransaction } from './transactions.ts'

type Row = Readonly<Record<string, string | number | null>>

interface CopiedTable {
  /** The columns of its primary key, by which it is gone through. */
  readonly key: readonly string[]
  /** Whether the database gives out its ids. */
  readonly hasIds?: true
  /** Whether the database refuses to remove its rows: what an interrupted copying has brought stays, and is added to. */
  readonly isOnlyAddedTo?: true
  /** What becomes of a row on the way. */
  readonly change?: (row: Row) => Row
}

/**
 * What is not copied: the version is the other database's own, and the rest of `meta` goes by its keys; nodes, their
 * jobs, the uploads under way and half-done sign-ins end with the servers, resumable uploads too; the search index is
 * kept by the database itself.
 */
type NotCopied = 'meta' | 'nodes' | 'jobs' | 'reservations' | 'uploads' | 'verifications' | 'file_names'

/** What others point to comes before them. */
const copied = {
  // No upload is under way, so no room is set aside.
  accounts: { key: ['id'], hasIds: true, change: (row) => ({ ...row, storage_reserved: 0 }) },
  api_keys: { key: ['id'], hasIds: true },
  folders: { key: ['id'], hasIds: true },
  blobs: { key: ['id'], hasIds: true },
  // The node that is at it ends with the servers.
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
  file_warnings: { key: ['id'], hasIds: true },
} as const satisfies Record<Exclude<keyof Tables, NotCopied>, CopiedTable>

const emptied = Object.entries<CopiedTable>(copied)
  .filter(([, { isOnlyAddedTo }]) => isOnlyAddedTo !== true)
  .map(([table]) => table)
  .reverse()

const tables: readonly (readonly [string, CopiedTable])[] = Object.entries(copied)

/** Tables of uploads under way, which point to what is copied. */
const unfinished = ['reservations', 'uploads']

/** Rows of a batch: with the columns of the widest table they stay below what a statement may have of parameters. */
const BATCH = 500

export interface Copying {
  readonly from: Db
  readonly to: Db
  /** Rows of `meta` that each database keeps for itself. */
  readonly ownMeta: readonly string[]
  /** Whether the store stays the same, so that what it holds besides files comes along: thumbnails and garbage. */
  readonly sameStore: boolean
  /** Told of every batch. May throw to stop the copying. */
  readonly onRows: (step: 'copied' | 'compared', count: number) => Promise<void>
}

/**
 * Makes the rows of `to` those of `from`, whatever it had, and then compares them one by one. Nobody changes `from`
 * meanwhile. What is interrupted is to be done again from its beginning.
 */
export async function copyRows(copying: Copying): Promise<void> {
  const { from, to } = copying
  await inTransaction(from, async (source) => {
    await holdStill(source, ['meta', ...unfinished, ...Object.keys(copied)])
    await inTransaction(to, (trx) => emptyTables(trx, [...unfinished, ...emptied]))
    for (const [table, { hasIds }] of tables) {
      await copyTable({ ...copying, from: source }, table)
      const last = hasIds ? await lastId(source, table) : null
      if (last !== null) await inTransaction(to, (trx) => setLastId(trx, table, last))
    }
    await copyMeta({ ...copying, from: source })
    for (const [table] of tables) await compareTable({ ...copying, from: source }, table)
    if (copying.sameStore) await uploadsToGarbage(source, to)
  })
}

/** How many rows there are to copy. */
export async function countRows(db: Db, { sameStore }: Pick<Copying, 'sameStore'>): Promise<number> {
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

/** Whether nobody has ever put anything into the database: it has no rows but those that it begins with. */
export async function holdsNothing(db: Db): Promise<boolean> {
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

/** Thumbnails are made anew where the bytes of the old ones are not. */
function isLeftOut(table: string, sameStore: boolean): boolean {
  return (table === 'blob_garbage' || table === 'thumbnails') && !sameStore
}

async function copyTable({ from, to, sameStore, onRows }: Copying, name: string): Promise<void> {
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
  // A folder that was moved may have a parent that is younger.
  await inTransaction(to, (trx) => withParentsLater(trx, () => copy((rows) => insertRows(trx, name, rows))))
}

async function compareTable({ from, to, sameStore, onRows }: Copying, name: string): Promise<void> {
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
  if (isMore) throw new Error(`the copy of the table ${name} has rows that nobody has put there`)
}

function assertSame(name: string, row: Row, other: Row | undefined): void {
  const wrong = Object.keys(row).filter((column) => other?.[column] !== row[column])
  if (wrong.length === 0) return
  const key = keyOf(name).map((column) => row[column])
  throw new Error(`the row ${key.join(' ')} of ${name} arrived with another ${wrong.join(', ')}`)
}

/** The row whose key is the greatest. */
async function lastRow(db: Db, name: string): Promise<Row | undefined> {
  const key = sql.join(keyOf(name).map((column) => sql`${sql.ref(column)} desc`))
  const { rows } = await sql<Row>`select * from ${sql.table(name)} order by ${key} limit 1`.execute(db)
  return rows[0]
}

/** All rows of a table as they are to be, or those after that one, in the order of its key. */
async function* batches(db: Db, name: string, after?: Row): AsyncGenerator<readonly Row[], undefined> {
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
    yield rows.map(change)
    if (rows.length < BATCH) return
    where = beyond(last)
  }
}

function keyOf(name: string): readonly string[] {
  return tables.find(([table]) => table === name)?.[1].key ?? []
}

async function insertRows(trx: Db, name: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
  const names = sql.join(columns.map((column) => sql.ref(column)))
  await sql`insert into ${sql.table(name)} (${names}) values ${sql.join(values)}`.execute(trx)
}

async function copyMeta({ from, to, ownMeta }: Copying): Promise<void> {
  const own = ['version', ...ownMeta]
  const rows = await from.selectFrom('meta').selectAll().where('key', 'not in', own).execute()
  await inTransaction(to, async (trx) => {
    await trx.deleteFrom('meta').where('key', 'not in', own).execute()
    if (rows.length > 0) await trx.insertInto('meta').values(rows).execute()
  })
}

/** What is left of uploads in the store is to be removed by whoever has the store from now on. */
async function uploadsToGarbage(from: Db, to: Db): Promise<void> {
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
