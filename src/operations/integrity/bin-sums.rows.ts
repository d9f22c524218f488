import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Queryable, Trx } from '../../database/database.ts'
import type { AccountId, BinEntryId } from '../../domain/ids.ts'
import { accountsInMotion } from './folder-sums.rows.ts'

export interface EntrySums {
  readonly id: BinEntryId
  readonly account_id: AccountId
  readonly username: string
  readonly files: number
  readonly bytes: number
  readonly held_files: number
  readonly held_bytes: number
}

export function wrongEntriesAfter(db: Queryable, id: BinEntryId | null, limit: number): Promise<EntrySums[]> {
  return wrongEntries(db, id === null ? sql<SqlBool>`1 = 1` : sql<SqlBool>`bin.id > ${id}`, limit)
}

export async function findWrongEntry(db: Queryable, id: BinEntryId): Promise<EntrySums | undefined> {
  const [entry] = await wrongEntries(db, sql<SqlBool>`bin.id = ${id}`, 1)
  return entry
}

/** Leaves out accounts in motion: their rows follow in steps. */
async function wrongEntries(
  db: Queryable,
  isWanted: RawBuilder<SqlBool>,
  limit: number,
): Promise<EntrySums[]> {
  const { rows } = await sql<EntrySums>`
    select bin.id, bin.account_id, accounts.username, bin.files, bin.bytes,
      coalesce(folders.tree_files, 1) as held_files, coalesce(folders.tree_bytes, files.size) as held_bytes
    from bin join accounts on accounts.id = bin.account_id
      left join folders on folders.id = bin.folder_id
      left join files on files.id = bin.file_id
    where ${isWanted}
      and (
        bin.files <> coalesce(folders.tree_files, 1)
        or bin.bytes <> coalesce(folders.tree_bytes, files.size)
      )
      and bin.account_id not in (${accountsInMotion})
    order by bin.id limit ${limit}`.execute(db)
  return rows
}

/** The caller holds the account's lock. */
export async function setEntrySums(trx: Trx, { id, held_files, held_bytes }: EntrySums): Promise<void> {
  await trx.updateTable('bin').set({ files: held_files, bytes: held_bytes }).where('id', '=', id).execute()
}
