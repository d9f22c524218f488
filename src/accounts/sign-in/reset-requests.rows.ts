import { sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import type { ResetRequestId } from '../../domain/ids.ts'

export interface ResetRequestRow {
  readonly id: ResetRequestId
  readonly asked: string
  readonly created_at: number
}

export async function insertResetRequest(db: Database, asked: string, now: number): Promise<void> {
  await db.insertInto('reset_requests').values({ asked, created_at: now }).execute()
}

export async function nextResetRequest(db: Database): Promise<ResetRequestRow | undefined> {
  return (await next(db))[0]
}

const next = prepared((db) => db.selectFrom('reset_requests').selectAll().orderBy('id').limit(sql.lit(1)))

export async function dropResetRequests(db: Database, before: number): Promise<void> {
  await db.deleteFrom('reset_requests').where('created_at', '<', before).execute()
}

/** False when another node was first. */
export async function takeResetRequest(trx: Trx, id: ResetRequestId): Promise<boolean> {
  const { numDeletedRows } = await trx.deleteFrom('reset_requests').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
