import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate } from '../database/differences.ts'
import type { Row } from '../database/schema.ts'
import { metaValue, setMeta } from './meta.rows.ts'

export type OutageRow = Row<'outages'>

const LAST_RUN = 'last_run'

/** Locked until the transaction ends. */
export async function lockLastRun(trx: Trx, first: () => Promise<number>): Promise<number> {
  const lock = trx.selectFrom('meta').select('value').where('key', '=', LAST_RUN).modifyEnd(forUpdate(trx))
  const present = await lock.executeTakeFirst()
  if (present !== undefined) return Number(present.value)
  const made = String(await first())
  await metaValue(trx, LAST_RUN, () => made)
  return Number((await lock.executeTakeFirstOrThrow()).value)
}

export async function setLastRun(trx: Trx, at: number): Promise<void> {
  await setMeta(trx, LAST_RUN, String(at))
}

export async function lastFileUse(db: Queryable): Promise<number | null> {
  const row = await db
    .selectFrom('files')
    .select('last_used_at')
    .where('removed_at', 'is', null)
    .orderBy('last_used_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.last_used_at ?? null
}

export async function insertOutage(trx: Trx, outage: Omit<OutageRow, 'id'>): Promise<void> {
  await trx.insertInto('outages').values(outage).execute()
}

export async function cutOutages(trx: Trx, now: number): Promise<void> {
  await trx
    .updateTable('outages')
    .set({ ended_at: now })
    .where('began_at', '<', now)
    .where('ended_at', '>', now)
    .execute()
}

export function listOutages(db: Database): Promise<OutageRow[]> {
  return db.selectFrom('outages').selectAll().orderBy('id').execute()
}

export function latestOutages(db: Database, limit: number): Promise<OutageRow[]> {
  return db.selectFrom('outages').selectAll().orderBy('id', 'desc').limit(limit).execute()
}
