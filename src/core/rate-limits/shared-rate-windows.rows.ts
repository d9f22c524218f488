/** Rate windows shared by nodes, many in one atomic statement. PostgreSQL only. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import { prepared, preparedChange } from '../../database/prepared.ts'
import type { Row } from '../../database/schema.ts'

export interface WindowTaking extends WindowRow {
  /** If false, the other fields are the window at the statement's start. */
  readonly taken: boolean
}

export interface WindowAmount {
  readonly subject: string
  readonly amount: number
}

export interface WindowTerms {
  readonly opensAt: number
  readonly endsAt: number
  /** Later openings come from a wrong clock. */
  readonly latestOpening: number
  readonly limit: number
}

/**
 * Adds each amount to its subject's window if the limit allows; each subject comes once. Replaces windows that are over
 * or opened too late; a missing one is only created by a successful take.
 *
 * The newest row decides, locked in subject order. On a refusal the returned window may predate the wait for the lock:
 * missing, or seemingly with room. The caller must then repeat the statement.
 */
export async function takeFromWindows(
  db: Database,
  amounts: readonly WindowAmount[],
  { opensAt, endsAt, latestOpening, limit }: WindowTerms,
): Promise<ReadonlyMap<string, WindowTaking>> {
  const subjects = amounts.map(({ subject }) => subject)
  const sizes = amounts.map(({ amount }) => amount)
  const { rows } = await addToWindows(db, subjects, sizes, opensAt, endsAt, latestOpening, limit)
  return new Map(rows.map((row) => [row.subject, row]))
}

const addToWindows = preparedChange(
  (
    db,
    subjects: readonly string[],
    amounts: readonly number[],
    opensAt: number,
    endsAt: number,
    latestOpening: number,
    limit: number,
  ) => ({
    compile: () =>
      sql<WindowTaking>`
        with wanted as (
          select subject, used
          from unnest(cast(${subjects} as text[]), cast(${amounts} as bigint[])) as wanted (subject, used)
        ),
        terms (opened_at, ends_at, latest, most) as (
          values (
            cast(${opensAt} as bigint), cast(${endsAt} as bigint),
            cast(${latestOpening} as bigint), cast(${limit} as bigint)
          )
        ),
        taking as (
          insert into rate_windows as present (subject, opened_at, ends_at, used)
          select wanted.subject, terms.opened_at, terms.ends_at, wanted.used from wanted, terms
          where wanted.used <= terms.most
          order by wanted.subject
          ${ontoPresent(sql`most`)}
          returning subject, opened_at, ends_at, used
        )
        select subject, true as taken, opened_at, ends_at, used from taking
        union all
        select subject, false, opened_at, ends_at, used from rate_windows
        where subject in (select subject from wanted except select subject from taking)`.compile(db),
  }),
)

/**
 * Conflict action of an insert into `rate_windows as present`: adds where the limit, a column of `terms`, allows, and
 * replaces a window that is over or opened later than `latest`.
 */
export function ontoPresent(limit: RawBuilder<unknown>): RawBuilder<unknown> {
  const isOver = sql<SqlBool>`
    (present.ends_at <= excluded.opened_at or present.opened_at > (select latest from terms))`
  return sql`
    on conflict (subject) do update set
      opened_at = case when ${isOver} then excluded.opened_at else present.opened_at end,
      ends_at = case when ${isOver} then excluded.ends_at else present.ends_at end,
      used = case when ${isOver} then excluded.used else present.used + excluded.used end
    where ${isOver} or present.used + excluded.used <= (select ${limit} from terms)`
}

export async function findWindow(db: Database, subject: string): Promise<WindowRow | undefined> {
  return (await windowOf(db, subject))[0]
}

const windowOf = prepared((db, subject: string) =>
  db.selectFrom('rate_windows').selectAll().where('subject', '=', subject),
)

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

/** Drops up to `most` windows over at `time`; returns how many. Skips locked ones. */
export async function dropWindowsOver(db: Database, time: number, most: number): Promise<number> {
  return (await dropOver(db, time, most)).changed
}

const dropOver = preparedChange((db, time: number, most: number) =>
  db
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
    ),
)

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
