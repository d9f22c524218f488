import type { Database, Trx } from '../../database/database.ts'
import type { Row } from '../../database/schema.ts'

export type WindowRow = Row<'rate_windows'>

export function listWindows(db: Database): Promise<WindowRow[]> {
  return db.selectFrom('rate_windows').selectAll().execute()
}

export async function saveWindow(trx: Trx, window: WindowRow): Promise<void> {
  const { opened_at, ends_at, used } = window
  await trx
    .insertInto('rate_windows')
    .values(window)
    .onConflict((conflict) => conflict.column('subject').doUpdateSet({ opened_at, ends_at, used }))
    .execute()
}

export async function dropWindow(trx: Trx, subject: string): Promise<void> {
  await trx.deleteFrom('rate_windows').where('subject', '=', subject).execute()
}
