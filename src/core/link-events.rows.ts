/** Log of links. An event is inserted by its transaction, which must hold the account's lock. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import type { Row } from '../database/schema.ts'
import { MINUTE } from '../domain/clock.ts'
import {
  type DownloadMails,
  END_NOTIFIED,
  type EndReason,
  type EventFile,
  type EventKind,
  type LinkEventKind,
  type StoredEventKind,
} from '../domain/event-kinds.ts'
import {
  type AccountId,
  type FileId,
  GUESTS,
  type LinkEventId,
  type LinkId,
  type LinkSlug,
} from '../domain/ids.ts'
import { noteEventChange } from './changes.rows.ts'
import { queueEvent } from './webhook-outbox.rows.ts'

/** Events kept per link, newest first. */
export const MOST_EVENTS = 2000

/** Downloads of a link with a row each, within `ONE_BY_ONE`; the rest of that time shares one row. */
export const MOST_ROWS = 20
export const ONE_BY_ONE = 20 * MINUTE

const columns = ['id', 'kind', 'at', 'file_id', 'file_name', 'bytes', 'times', 'reason', 'address'] as const

export type EventColumns = Row<
  'link_events',
  'file_id' | 'file_name' | 'bytes' | 'times' | 'reason' | 'address'
>
type AnyEventRow = Row<'link_events', (typeof columns)[number]>
export type LinkEventRow = AnyEventRow & { readonly kind: LinkEventKind }

export interface NewEvent {
  readonly account: AccountId
  readonly link: LinkId | null
  readonly kind: StoredEventKind
  readonly at: number
  readonly file?: EventFile<FileId> | null
  readonly bytes?: number
  readonly times?: number
  readonly reason?: EndReason
  readonly address?: string | null
}

/** Mailed regardless of settings. */
const MAILED: readonly StoredEventKind[] = [
  'link.arrived',
  'link.ends_soon',
  'link.ended',
  'storage.nearly_full',
]

/** 0 for a pending mail. Owners get none for their own revocations, guests none at all. */
function mailedOf({ account, kind, reason }: NewEvent): 0 | 1 | RawBuilder<0 | 1> {
  if (account === GUESTS) return 1
  const hasSet = (wish: DownloadMails) =>
    sql<SqlBool>`exists (select 1 from mail_addresses where account_id = ${account} and download_mails = ${wish})`
  if (kind === 'link.first_download') return sql<0 | 1>`case when ${hasSet('none')} then 1 else 0 end`
  if (kind === 'link.downloaded') return sql<0 | 1>`case when ${hasSet('every')} then 0 else 1 end`
  return MAILED.includes(kind) && reason !== 'revoked' ? 0 : 1
}

/** Guests' links are not serialized: each has only its own log, without notifications. */
export async function lockOwner(trx: Trx, account: AccountId): Promise<void> {
  if (account !== GUESTS) await lockAccount(trx, account)
}

/**
 * Appends the event, notifies event streams and webhooks, and drops the link's oldest surplus events. A guest's link
 * only gets a log entry, without addresses: everyone with the receipt reads it.
 */
export async function noteEvent(trx: Trx, event: NewEvent & { readonly kind: EventKind }): Promise<void> {
  const { account, link, kind, at } = event
  if (account === GUESTS) await insertEvent(trx, { ...event, address: null })
  else {
    const id = await insertEvent(trx, event)
    await noteEventChange(trx, account, id)
    await queueEvent(trx, account, { id, kind }, at)
  }
  if (link !== null) await dropTooMany(trx, link)
}

export async function insertEvent(trx: Trx, event: NewEvent): Promise<LinkEventId> {
  const { account, link, kind, at, file = null, bytes = null, times = 1, reason = null } = event
  const { id } = await trx
    .insertInto('link_events')
    .values({
      account_id: account,
      link_id: link,
      kind,
      at,
      file_id: file?.id ?? null,
      file_name: file?.name ?? null,
      bytes,
      times,
      reason,
      address: event.address ?? null,
      mailed: mailedOf(event),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function dropTooMany(trx: Trx, link: LinkId): Promise<void> {
  const last = trx
    .selectFrom('link_events')
    .select('id')
    .where('link_id', '=', link)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(MOST_EVENTS)
  await trx.deleteFrom('link_events').where('link_id', '=', link).where('id', '<=', last).execute()
}

export interface OwnedLink {
  readonly id: LinkId
  readonly account: AccountId
}

export interface LinkDownload {
  readonly times: number
  readonly bytes: number
  readonly file: EventFile<FileId> | null
  readonly address: string | null
  readonly endedAt?: number
}

/** Records an event, or batches frequent downloads: see `notifyBatchedDownloads`. */
export async function noteDownload(
  trx: Trx,
  { id, account }: OwnedLink,
  { times, bytes, file, address, endedAt }: LinkDownload,
  now: number,
): Promise<void> {
  const link = await trx
    .updateTable('links')
    .set({ pending_count: sql`pending_count + ${times}`, pending_bytes: sql`pending_bytes + ${bytes}` })
    .where('id', '=', id)
    .returning(['notify_window_start', 'notified_count', 'pending_count', 'pending_bytes'])
    .executeTakeFirst()
  if (link === undefined || link.pending_count === 0) return
  const isOver = isWindowOver(link.notify_window_start, now)
  if (!isOver && link.notified_count >= MOST_ROWS) return
  const isAlone = link.pending_count === times
  const at = isAlone && endedAt !== undefined ? endedAt : now
  await tell(trx, { id, account }, { ...link, ...(isAlone ? { file, address } : {}) }, at)
  const window = isOver
    ? { notify_window_start: now, notified_count: 1 }
    : { notified_count: link.notified_count + 1 }
  await trx
    .updateTable('links')
    .set({ pending_count: 0, pending_bytes: 0, ...window })
    .where('id', '=', id)
    .execute()
}

/** A time in the future was written by a wrong clock. */
function isWindowOver(since: number | null, now: number): boolean {
  return since === null || since > now || now - since >= ONE_BY_ONE
}

async function tell(
  trx: Trx,
  { id, account }: OwnedLink,
  { notify_window_start, pending_count: times, pending_bytes: bytes, file = null, address = null }: Gathered,
  at: number,
): Promise<void> {
  const kind = notify_window_start === null ? 'link.first_download' : 'link.downloaded'
  await noteEvent(trx, { account, link: id, kind, at, file, bytes, times, address })
}

interface Gathered {
  readonly notify_window_start: number | null
  readonly pending_count: number
  readonly pending_bytes: number
  readonly file?: EventFile<FileId> | null
  readonly address?: string | null
}

export function linksToNotify(db: Database, now: number, most: number): Promise<OwnedLink[]> {
  return db
    .selectFrom('links')
    .select(['id', 'account_id as account'])
    .where('pending_count', '>', 0)
    .where((link) =>
      link.or([link('notify_window_start', '<=', now - ONE_BY_ONE), link('notify_window_start', '>', now)]),
    )
    .limit(most)
    .execute()
}

export function notifyBatchedDownloads(trx: Trx, link: OwnedLink, now: number): Promise<void> {
  return noteDownload(trx, link, { times: 0, bytes: 0, file: null, address: null }, now)
}

/** Records the link's end once; later reasons change nothing. */
export async function noteEnd(
  trx: Trx,
  { id, account }: OwnedLink,
  reason: EndReason,
  at: number,
  { isTold = true }: { readonly isTold?: boolean } = {},
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('links')
    .set({ end_notified: END_NOTIFIED })
    .where('id', '=', id)
    .where('end_notified', '<', END_NOTIFIED)
    .executeTakeFirst()
  if (numUpdatedRows === 0n || !isTold) return
  await noteEvent(trx, { account, link: id, kind: 'link.ended', at, reason })
}

/** Newest first. */
export function listEvents(
  db: Database,
  link: LinkId,
  offset: number,
  limit: number,
): Promise<LinkEventRow[]> {
  return db
    .selectFrom('link_events')
    .select(columns)
    .where('link_id', '=', link)
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .$narrowType<{ kind: LinkEventKind }>()
    .execute()
}

export async function countEvents(db: Queryable, link: LinkId): Promise<number> {
  const { count } = await db
    .selectFrom('link_events')
    .select((event) => event.fn.countAll<number>().as('count'))
    .where('link_id', '=', link)
    .executeTakeFirstOrThrow()
  return count
}

export async function dropOldEvents(db: Database, time: number, most: number): Promise<number> {
  const old = db.selectFrom('link_events').select('id').where('at', '<', time).orderBy('at').limit(most)
  const { numDeletedRows } = await db.deleteFrom('link_events').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

export function findEvent(
  db: Database,
  id: LinkEventId,
): Promise<(AnyEventRow & { readonly link: LinkSlug | null }) | undefined> {
  return db
    .selectFrom('link_events')
    .leftJoin('links', 'links.id', 'link_events.link_id')
    .select(columns.map((column) => `link_events.${column}` as const))
    .select('links.slug as link')
    .where('link_events.id', '=', id)
    .executeTakeFirst()
}

export function eventFields({ file_id, file_name, bytes, times, reason, address }: EventColumns): {
  readonly file: EventFile<FileId> | null
  readonly bytes: number | null
  readonly times: number
  readonly reason: EndReason | null
  readonly address: string | null
} {
  return { file: file_name === null ? null : { id: file_id, name: file_name }, bytes, times, reason, address }
}
