/** Where SQLite and PostgreSQL differ, and the only place where they may. */

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { AccountId } from '../domain/ids.ts'
import type { Db } from './schema.ts'

/**
 * Until the transaction ends, nobody else changes the account's tree of folders.
 * In SQLite a transaction is alone from its beginning, so there is nothing to do.
 */
export async function lockTree(_trx: Db, _account: AccountId): Promise<void> {}

/** A new row lost against one that is there already. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_UNIQUE'
}

/** The database has no room left or cannot be written, as opposed to a mistake of ours. */
export function isDatabaseFailure(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false
  return /^SQLITE_(FULL|IOERR|BUSY|READONLY|CANTOPEN|CORRUPT|NOTADB)/.test(error.code)
}

/**
 * The file's folded name holds the folded needle. Needles of three or more characters are answered from the
 * trigram index; shorter ones have no trigram and are looked for in the account's names one by one.
 */
export function nameContains(needle: string): RawBuilder<SqlBool> {
  // FTS5 reads its query text up to a NUL only.
  if ([...needle].length < 3 || needle.includes('\0'))
    return sql<SqlBool>`instr(files.name_folded, ${needle}) > 0`
  const phrase = `"${needle.replaceAll('"', '""')}"`
  return sql<SqlBool>`files.id in (select rowid from file_names where file_names match ${phrase})`
}
