/** Rate windows that nodes share, one atomic statement each: for PostgreSQL, the database that can be shared. */
import { type SqlBool, sql } from 'kysely'
import type { WindowRow } from './rate-windows.ts'
import type { Db } from './schema.ts'

export interface WindowTaking extends Omit<WindowRow, 'subject'> {
  /** Whether the amount was taken. If not, this is the window as it was when the statement began. */
  readonly taken: boolean
}

/**
 * Adds `window.used` to the subject's window when no more than `limit` is used then. A window that is over at
 * `window.opened_at`, or that opened after `latestOpening`, gives way to `window`; where there is none, nothing but a
 * taking makes one.
 *
 * Whether there is room is decided on the newest row, which the statement waits for. What is told of a window without
 * room may be older by that wait: nothing, or a window that seems to have room. Then the statement is to be repeated.
 */
export async function takeFromWindow(
  db: Db,
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

/** Does nothing when another window has opened since. */
export async function giveBackToWindow(
  db: Db,
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

/** Drops up to `most` windows that were over at `time`, and tells how many. One that is in use is left for later. */
export async function dropWindowsOver(db: Db, time: number, most: number): Promise<number> {
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
