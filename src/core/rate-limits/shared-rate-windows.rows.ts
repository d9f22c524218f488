/** Rate windows shared by nodes, one atomic statement each: for PostgreSQL only. */
import { type SqlBool, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { WindowRow } from './rate-windows.rows.ts'

export interface WindowTaking extends Omit<WindowRow, 'subject'> {
  /**
   * Whether the amount was taken. If not, the other fields are the window as it was when the statement began.
   */
  readonly taken: boolean
}

/**
 * Adds `window.used` to the subject's window if no more than `limit` is then used. A window that is over at
 * `window.opened_at`, or that opened after `latestOpening`, is replaced by `window`; a missing window is only
 * created when the amount is taken.
 *
 * Whether there is room is decided on the newest row, whose lock the statement waits for. On a refusal the
 * returned window may be older than that wait: missing, or seemingly with room. The caller must then repeat
 * the statement.
 */
export async function takeFromWindow(
  db: Database,
  window: WindowRow,
  limit: number,
  latestOpening: number,
): Promise<WindowTaking | undefined> {
  const { subject, opened_at, ends_at, used } = window
  const isOver = sql<SqlBool>`(present.ends_at <= ${opened_at} or present.opened_at > ${latestOpening})`
  const { rows } = await sql<WindowTaking>`
    with taking as (
      insert into rate_windows as present (subject, opened_at, ends_at, used)
      select ${subject}, ${opened_at}, ${ends_at}, ${used}
      where cast(${used} as bigint) <= ${limit}
      on conflict (subject) do update set
        opened_at = case when ${isOver} then excluded.opened_at else present.opened_at end,
        ends_at = case when ${isOver} then excluded.ends_at else present.ends_at end,
        used = case when ${isOver} then excluded.used else present.used + excluded.used end
      where ${isOver} or present.used + excluded.used <= ${limit}
      returning opened_at, ends_at, used
    )
    select true as taken, opened_at, ends_at, used from taking
    union all
    select false, opened_at, ends_at, used from rate_windows
    where subject = ${subject} and not exists (select from taking)
  `.execute(db)
  return rows[0]
}

export function findWindow(db: Database, subject: string): Promise<WindowRow | undefined> {
  return db.selectFrom('rate_windows').selectAll().where('subject', '=', subject).executeTakeFirst()
}

/** Returns an amount to the window. Does nothing when another window has opened since. */
export async function giveBackToWindow(
  db: Database,
  subject: string,
  amount: number,
  openedAt: number,
): Promise<void> {
  await db
    .updateTable('rate_windows')
    .set({ used: sql<number>`greatest(0, used - ${amount})` })
    .where('subject', '=', subject)
    .where('opened_at', '=', openedAt)
    .execute()
}

/**
 * Drops up to `most` windows that were over at `time` and returns how many. Locked windows are left for
 * later.
 */
export async function dropWindowsOver(db: Database, time: number, most: number): Promise<number> {
  const result = await db
    .deleteFrom('rate_windows')
    .where('subject', 'in', (query) =>
      query
        .selectFrom('rate_windows')
        .select('subject')
        .where('ends_at', '<=', time)
        .orderBy('ends_at')
        .limit(most)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
