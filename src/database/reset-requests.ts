import type { ResetRequestId } from '../domain/ids.ts'
import type { Db } from './schema.ts'

export interface ResetRequestRow {
  readonly id: ResetRequestId
  readonly asked: string
  readonly created_at: number
}

export async function insertResetRequest(db: Db, asked: string, now: number): Promise<void> {
  await db.insertInto('reset_requests').values({ asked, created_at: now }).execute()
}

export function nextResetRequest(db: Db): Promise<ResetRequestRow | undefined> {
  return db.selectFrom('reset_requests').selectAll().orderBy('id').limit(1).executeTakeFirst()
}

export async function dropResetRequests(db: Db, before: number): Promise<void> {
  await db.deleteFrom('reset_requests').where('created_at', '<', before).execute()
}

/** False when somebody else has taken it. */
export async function takeResetRequest(trx: Db, id: ResetRequestId): Promise<boolean> {
  const { numDeletedRows } = await trx.deleteFrom('reset_requests').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
