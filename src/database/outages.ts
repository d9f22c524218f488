/** When the service is known to have run, and when it did not. */
import type { Selectable } from 'kysely'
import { forUpdate } from './differences.ts'
import { metaValue, setMeta } from './meta.ts'
import type { Db, Tables } from './schema.ts'

export type OutageRow = Readonly<Selectable<Tables['outages']>>

const LAST_RUN = 'last_run'

/** The last moment the service is known to have run, kept from others until the transaction ends. */
export async function lockLastRun(trx: Db, first: () => Promise<number>): Promise<number> {
  const lock = trx.selectFrom('meta').select('value').where('key', '=', LAST_RUN).modifyEnd(forUpdate(trx))
  const present = await lock.executeTakeFirst()
  if (present !== undefined) return Number(present.value)
  const made = String(await first())
  await metaValue(trx, LAST_RUN, () => made)
  return Number((await lock.executeTakeFirstOrThrow()).value)
}

export async function setLastRun(trx: Db, at: number): Promise<void> {
  await setMeta(trx, LAST_RUN, String(at))
}

/** When somebody last used a live file; null when nobody has one. */
export async function lastFileUse(db: Db): Promise<number | null> {
  const row = await db
    .selectFrom('files')
    .select('last_used_at')
    .where('removed_at', 'is', null)
    .orderBy('last_used_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.last_used_at ?? null
}

export async function insertOutage(trx: Db, outage: Omit<OutageRow, 'id'>): Promise<void> {
  await trx.insertInto('outages').values(outage).execute()
}

/** Ends outages that lie across `now` at it. */
export async function cutOutages(trx: Db, now: number): Promise<void> {
  await trx
    .updateTable('outages')
    .set({ ended_at: now })
    .where('began_at', '<', now)
    .where('ended_at', '>', now)
    .execute()
}

export function listOutages(db: Db): Promise<OutageRow[]> {
  return db.selectFrom('outages').selectAll().orderBy('id').execute()
}

/** The latest, the latest first. */
export function latestOutages(db: Db, limit: number): Promise<OutageRow[]> {
  return db.selectFrom('outages').selectAll().orderBy('id', 'desc').limit(limit).execute()
}
