import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { greatest } from '../database/differences.ts'
import type { AccountId, FileId, KeyId } from '../domain/ids.ts'

export interface FileUse {
  views: number
  downloads: number
  lastUsedAt: number
}

export async function addFileUse(trx: Trx, files: readonly FileId[], use: FileUse): Promise<void> {
  await trx
    .updateTable('files')
    .set((row) => ({
      views: row('views', '+', use.views),
      downloads: row('downloads', '+', use.downloads),
      last_used_at: greatest(trx, 'last_used_at', use.lastUsedAt),
    }))
    .where('id', 'in', files)
    .execute()
}

export async function addRequests(
  trx: Trx,
  account: AccountId,
  day: string,
  requests: number,
): Promise<void> {
  await trx
    .insertInto('request_days')
    .values({ account_id: account, day, requests })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'day'])
        .doUpdateSet({ requests: sql<number>`request_days.requests + excluded.requests` }),
    )
    .execute()
}

/** Omits days without requests. */
export function requestsSince(
  db: Database,
  account: AccountId,
  day: string,
): Promise<{ readonly day: string; readonly requests: number }[]> {
  return db
    .selectFrom('request_days')
    .select(['day', 'requests'])
    .where('account_id', '=', account)
    .where('day', '>=', day)
    .execute()
}

export async function requestsOn(db: Database, account: AccountId, day: string): Promise<number> {
  const row = await db
    .selectFrom('request_days')
    .select('requests')
    .where('account_id', '=', account)
    .where('day', '=', day)
    .executeTakeFirst()
  return row?.requests ?? 0
}

export async function setKeyUsed(trx: Trx, key: KeyId, at: number): Promise<void> {
  await trx
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('id', '=', key)
    // Another node may have recorded a later use.
    .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<', at)]))
    .execute()
}
