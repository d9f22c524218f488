import type { Selectable } from 'kysely'
import { findAccount } from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import type { Signing } from '../core/hmac.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { Tables } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, DAY, HOUR, withPause } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import {
  type AccountId,
  type FileId,
  GUESTS,
  type ReportId,
  type Sha256,
  type Slug,
  type Uuid,
} from '../domain/ids.ts'
import type { ReportReason, ReportState } from '../domain/report.ts'
import { type FileDetailRow, findFile } from '../files/files.ts'

const CLOSED_KEPT_FOR = 180 * DAY

const STEP = 100

export interface ReportedFile {
  readonly id: ReportId
  readonly file: {
    readonly id: FileId
    readonly slug: Slug
    readonly name: string
    readonly sha256: Sha256
  }
  readonly reason: ReportReason
  readonly text: string | null
  readonly createdAt: number
  readonly state: ReportState
  readonly closedAt: number | null
}

export interface JudgedReport extends ReportedFile {
  readonly present: PresentFile | null
}

export interface PresentFile {
  readonly size: number
  readonly type: string
  readonly uuid: Uuid
  /** Null for a guest. */
  readonly account: { readonly id: AccountId; readonly username: string } | null
}

export type Reports = ReturnType<typeof createReports>

export function createReports(db: Database, clock: Clock) {
  async function find(id: ReportId): Promise<ReportRow> {
    const row = await findReport(db, id)
    if (row === undefined) throw reportNotFound(id)
    return row
  }

  async function present(id: FileId): Promise<PresentFile | null> {
    const file = await findFile(db, { kind: 'id', id })
    if (file === undefined) return null
    const { size, type, uuid, account_id } = file
    if (account_id === GUESTS) return { size, type, uuid, account: null }
    const owner = await findAccount(db, account_id)
    const account = owner === undefined ? null : { id: owner.id, username: owner.username }
    return { size, type, uuid, account }
  }

  async function judge(row: ReportRow): Promise<JudgedReport> {
    return { ...reportOf(row), present: await present(row.file_id) }
  }

  return {
    async list(which: 'open' | 'all'): Promise<ReportedFile[]> {
      return (await listReports(db, which)).map(reportOf)
    },

    /** Throws Refusal NOT_FOUND. */
    async get(id: ReportId) {
      const report = reportOf(await find(id))
      const file = await findFile(db, { kind: 'id', id: report.file.id })
      return { ...report, fileIsHere: file !== undefined }
    },

    async page(which: ReportSelection, page: number, perPage: number) {
      const reports: JudgedReport[] = []
      for (const row of await pageOfReports(db, which, (page - 1) * perPage, perPage)) {
        reports.push(await judge(row))
      }
      return { reports, total: await countReports(db, which) }
    },

    /** Throws Refusal NOT_FOUND. */
    judged: async (id: ReportId) => judge(await find(id)),

    /** Leaves the file and a closed report unchanged. Throws Refusal NOT_FOUND. */
    async dismiss(actor: Actor, id: ReportId): Promise<void> {
      const { slug, name, sha256 } = await find(id)
      await inTransaction(db, async (trx) => {
        if (!(await closeReport(trx, id, 'dismissed', clock.now()))) return
        const details = { slug, name, sha256 }
        await recordAuditEntry(trx, clock, actor, { act: 'report.dismissed', object: String(id), details })
      })
    },

    async forgetOld(mayGoOn: () => boolean = () => true): Promise<void> {
      const now = clock.now()
      const steps = [
        () => forgetReporters(db, reportingDay(now), STEP),
        () => dropClosedReports(db, now - CLOSED_KEPT_FOR, STEP),
      ]
      for (const step of steps) while (mayGoOn() && (await withPause(clock.timers, step)) === STEP);
    },
  }
}

/** Beginning of the UTC day; a reporter's address is recognized within one day. */
export function reportingDay(now: number): number {
  return now - (now % DAY)
}

export function reportNotFound(id: ReportId): Refusal {
  return new Refusal('NOT_FOUND', `There is no report ${id}; the list of reports shows them all`)
}

function reportOf({ id, file_id, slug, name, sha256, ...row }: ReportRow): ReportedFile {
  return {
    id,
    file: { id: file_id, slug, name, sha256 },
    reason: row.reason,
    text: row.text,
    createdAt: row.created_at,
    state: row.state,
    closedAt: row.closed_at,
  }
}

const REPORTS_AN_HOUR = 10

export function createReporting(db: Database, rates: RateLimits, signing: Signing, clock: Clock) {
  return {
    /** Replaces the address's report of that day. Throws Refusal RATE_LIMITED. */
    async report(
      file: FileDetailRow,
      { reason, text }: { readonly reason: ReportReason; readonly text: string | null },
      bucket: string,
    ): Promise<void> {
      const subject = `report:${bucket}`
      const verdict = await rates.take(subject, 1, REPORTS_AN_HOUR, HOUR)
      if (!verdict.allowed) {
        throw new Refusal(
          'RATE_LIMITED',
          `You can send ${verdict.limit} reports an hour; try again later`,
          verdict.resetsIn,
        )
      }
      const now = clock.now()
      try {
        await keepReport(db, {
          file_id: file.id,
          slug: file.slug,
          name: file.name,
          sha256: file.sha256,
          reason,
          text,
          created_at: now,
          // Includes day and file, so that two reports from one address cannot be linked.
          reporter: signing.tag('reporter', `${reportingDay(now)}\n${file.id}\n${bucket}`),
        })
      } catch (error) {
        await rates.giveBack(subject, 1, verdict.openedAt)
        throw error
      }
    },
  }
}

export type ReportRow = Omit<Selectable<Tables['reports']>, 'reporter'>

const columns = [
  'id',
  'file_id',
  'slug',
  'name',
  'sha256',
  'reason',
  'text',
  'created_at',
  'state',
  'closed_at',
] as const

/** A reporter's second report replaces an open first one; an empty text does not replace the first one's. */
export async function keepReport(
  db: Database,
  report: Omit<ReportRow, 'id' | 'state' | 'closed_at'> & { readonly reporter: string },
): Promise<void> {
  await db
    .insertInto('reports')
    .values({ ...report, closed_at: null })
    .onConflict((conflict) =>
      conflict
        .column('reporter')
        .doUpdateSet({
          reason: (row) => row.ref('excluded.reason'),
          text: (row) => row.fn.coalesce('excluded.text', 'reports.text'),
        })
        .where('reports.closed_at', 'is', null),
    )
    .execute()
}

export function listReports(db: Database, which: 'open' | 'all'): Promise<ReportRow[]> {
  const all = db.selectFrom('reports').select(columns).orderBy('id', 'desc')
  return (which === 'all' ? all : all.where('closed_at', 'is', null)).execute()
}

export function findReport(db: Database, id: ReportId): Promise<ReportRow | undefined> {
  return db.selectFrom('reports').select(columns).where('id', '=', id).executeTakeFirst()
}

/** False for a closed report. */
export async function closeReport(
  db: Queryable,
  id: ReportId,
  state: Exclude<ReportState, 'open'>,
  time: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('reports')
    .set({ state, closed_at: time })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function forgetReporters(db: Database, time: number, most: number): Promise<number> {
  const some = db
    .selectFrom('reports')
    .select('id')
    .where('reporter', 'is not', null)
    .where('created_at', '<', time)
    .orderBy('created_at')
    .limit(most)
  const { numUpdatedRows } = await db
    .updateTable('reports')
    .set({ reporter: null })
    .where('id', 'in', some)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

export async function dropClosedReports(db: Database, time: number, most: number): Promise<number> {
  const some = db
    .selectFrom('reports')
    .select('id')
    .where('closed_at', '<=', time)
    .orderBy('closed_at')
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('reports').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

export type ReportSelection = 'open' | 'closed' | 'all'

function selected(db: Database, which: ReportSelection) {
  const all = db.selectFrom('reports')
  if (which === 'all') return all
  return all.where('closed_at', which === 'open' ? 'is' : 'is not', null)
}

export function pageOfReports(
  db: Database,
  which: ReportSelection,
  offset: number,
  limit: number,
): Promise<ReportRow[]> {
  return db.readPool.rows(
    selected(db, which).select(columns).orderBy('id', 'desc').limit(limit).offset(offset),
  )
}

export async function countReports(db: Database, which: ReportSelection): Promise<number> {
  const count = selected(db, which).select((row) => row.fn.countAll<number>().as('count'))
  return (await db.readPool.rows(count))[0]?.count ?? 0
}

export async function closeReportsOn(
  db: Queryable,
  sha256: Sha256,
  state: Exclude<ReportState, 'open'>,
  time: number,
  most: number,
): Promise<number> {
  const some = db
    .selectFrom('reports')
    .select('id')
    .where('sha256', '=', sha256)
    .where('closed_at', 'is', null)
    .limit(most)
  const { numUpdatedRows } = await db
    .updateTable('reports')
    .set({ state, closed_at: time })
    .where('id', 'in', some)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
