/** Names without sort keys: rows from before keys existed, and rows that nodes of older versions write. */
import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { sortKey } from '../domain/sort-key.ts'

/** Columns of each table's partial index over rows without a key, in index order. */
const KEYED = {
  files: ['account_id', 'name_folded', 'id'],
  folders: ['parent_id', 'name', 'id'],
  accounts: ['username', 'username', 'id'],
} as const

export type KeyedTable = keyof typeof KEYED

export const KEYED_TABLES = Object.keys(KEYED) as KeyedTable[]

/** Source of a sort key: the name as lists show it, folded where the folded name is stored. */
export interface Unkeyed {
  /** Account or folder that contains the row; for an account, its name. */
  readonly place: number | string
  readonly name: string
  readonly id: number
}

/**
 * At most `limit` rows without a key, of those before `before`. The last names of an account or folder come
 * first: lists sort names without keys before all others, so filling from the end hardly moves any entry.
 */
export async function rowsWithoutKey(
  db: Database,
  table: KeyedTable,
  before: Unkeyed | null,
  limit: number,
): Promise<Unkeyed[]> {
  const [place, name, id] = KEYED[table].map((column) => sql.ref(column))
  const order = [...new Set(KEYED[table])].map((column) => sql`${sql.ref(column)} desc`)
  const hasName = table === 'folders' ? sql`and parent_id is not null` : sql``
  // This condition skips dead index entries, which would otherwise be scanned at each step until vacuumed.
  const rest =
    before === null
      ? sql``
      : sql`and (${place}, ${name}, ${id}) < (${before.place}, ${before.name}, ${before.id})`
  const { rows } = await sql<Unkeyed>`
    select ${place} as place, ${name} as name, ${id} as id from ${sql.table(table)}
    where name_sort = '' ${hasName} ${rest}
    order by ${sql.join(order)}
    limit ${limit}`.execute(db)
  return rows
}

/**
 * Fills in the keys; returns how many. Rows that were renamed or got a key since they were read stay
 * unchanged.
 */
export async function fillKeysIn(trx: Trx, table: KeyedTable, rows: readonly Unkeyed[]): Promise<number> {
  const values = rows.map(
    ({ id, name }) => sql`(cast(${id} as bigint), cast(${name} as text), cast(${sortKey(name)} as text))`,
  )
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const { numAffectedRows } = await sql`
    with keyed (id, name, name_sort) as (values ${sql.join(values)})
    update ${sql.table(table)} set name_sort = keyed.name_sort from keyed
    where ${column('id')} = keyed.id and ${column(KEYED[table][1])} = keyed.name
      and ${column('name_sort')} = ''`.execute(trx)
  return Number(numAffectedRows ?? 0n)
}
