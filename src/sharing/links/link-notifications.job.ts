import {
  linksToNotify,
  lockOwner,
  noteEnd,
  noteEvent,
  notifyBatchedDownloads,
  type OwnedLink,
} from '../../core/link-events.rows.ts'
import type { LinkNewsItem } from '../../core/mail-content.ts'
import type { Database, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import type { Row } from '../../database/schema.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY, HOUR, MINUTE, yieldToEventLoop } from '../../domain/clock.ts'
import {
  END_NOTIFIED,
  END_PENDING,
  END_SOON_NOTIFIED,
  type EndReason,
  type StoredEventKind,
} from '../../domain/event-kinds.ts'
import { type AccountId, GUESTS, type LinkEventId, type LinkId } from '../../domain/ids.ts'
import {
  type MailRecipient,
  mailRecipients,
  notMailedSince,
  updateRecipient,
} from '../../mail/mail-addresses.rows.ts'
import type { EndableMails } from '../../mail/outbox.ts'

/** Later events within this time join the first one's mail. */
const TOGETHER = 5 * MINUTE
const MOST_ITEMS = 20
const MOST_NAMES = 20
const MOST_EVENTS = 1000
const ACCOUNTS = 50
/** Milliseconds after which an event is not notified any more: after an outage many may be pending. */
const LASTS = 3 * DAY

/** Each address gets at most one mail an hour, with all pending events. */
export async function mailLinkNews(
  db: Database,
  clock: Pick<Clock, 'now'>,
  { outbox, unsubscribePath }: EndableMails,
  mayGoOn: () => boolean,
): Promise<void> {
  if (!outbox.isOpen) return
  const now = clock.now()
  let after: AccountId = GUESTS
  while (mayGoOn()) {
    const happened = { after: now - LASTS, before: now - TOGETHER }
    const asked = { after, toldBefore: now - HOUR, happened, limit: ACCOUNTS }
    const owners = await newsRecipients(db, asked)
    for (const owner of owners) {
      const { account_id: account, address: to, language, username } = owner
      after = account
      await inTransaction(db, async (trx) => {
        if (!(await noteNewsTold(trx, owner, now))) return
        const rows = await untoldNews(trx, account, happened.after, MOST_EVENTS)
        if (rows.length === 0) return
        await markNewsTold(
          trx,
          rows.map(({ id }) => id),
        )
        const news = newsOf(rows)
        const listed = news.slice(0, MOST_ITEMS)
        const content = {
          kind: 'link news' as const,
          username,
          news: listed,
          more: news.length - listed.length,
          unsubscribePath: unsubscribePath(account),
        }
        if (news.length > 0) await outbox.put(trx, { account, to, language, content, lasts: LASTS })
      })
      await yieldToEventLoop()
    }
    if (owners.length < ACCOUNTS) return
  }
}

function newsOf(rows: readonly LinkNewsRow[]): LinkNewsItem[] {
  let names = MOST_NAMES
  return [...Map.groupBy(rows, ({ link_id }) => link_id).values()].flatMap((ofLink) => {
    const title = ofLink[0]?.title ?? ''
    const files = ofLink.flatMap(({ file: name, sender }) => (name === null ? [] : { name, sender }))
    const named = files.slice(0, names)
    names -= named.length
    const downloads = ofLink.filter(({ kind }) => DOWNLOADS.includes(kind))
    const times = downloads.reduce((sum, download) => sum + download.times, 0)
    const isFirst = downloads.some(({ kind }) => kind === 'link.first_download')
    const items: LinkNewsItem[] = []
    if (files.length > 0) items.push({ kind: 'received', title, count: files.length, files: named })
    if (times > 0) items.push({ kind: 'downloaded', title, times, isFirst })
    return [...items, ...ofLink.flatMap((row) => itemOf(row, title) ?? [])]
  })
}

const DOWNLOADS: readonly LinkNewsRow['kind'][] = ['link.first_download', 'link.downloaded']

/** Null for events without an item of their own, and for ends that were changed meanwhile. */
function itemOf({ kind, reason, bytes, ends_at }: LinkNewsRow, title: string): LinkNewsItem | null {
  if (kind === 'storage.nearly_full') return { kind: 'nearly full', bytes: bytes ?? 0 }
  if (kind === 'link.ended' && reason === 'downloads') return { kind: 'used up', title }
  if (kind === 'link.ended' && reason === 'full') return { kind: 'full', title }
  if (ends_at === null) return null
  if (kind === 'link.ends_soon') return { kind: 'ends soon', title, at: ends_at }
  return kind === 'link.ended' ? { kind: 'ended', title, at: ends_at } : null
}

export type NewsRecipient = MailRecipient & Row<'mail_addresses', 'events_told_at'>

interface Asked {
  readonly after: AccountId
  readonly toldBefore: number
  readonly happened: { readonly after: number; readonly before: number }
  readonly limit: number
}

export function newsRecipients(
  db: Database,
  { after, toldBefore, happened, limit }: Asked,
): Promise<NewsRecipient[]> {
  const owners = db
    .selectFrom('link_events')
    .select('account_id')
    .distinct()
    .where('mailed', '=', 0)
    .where('at', '>', happened.after)
    .where('at', '<=', happened.before)
  return db.readPool.rows(
    mailRecipients(db, after, limit)
      .select('mail_addresses.events_told_at')
      .where('mail_addresses.account_id', 'in', owners)
      .where(notMailedSince('events_told_at', toldBefore)),
  )
}

/** Records a mail; false when another node has sent one meanwhile, or the account opted out. */
export async function noteNewsTold(trx: Trx, seen: NewsRecipient, now: number): Promise<boolean> {
  const { numUpdatedRows } = await updateRecipient(trx, seen)
    .set({ events_told_at: now })
    .where('events_told_at', 'is not distinct from', seen.events_told_at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export interface LinkNewsRow {
  readonly id: LinkEventId
  /** Null for an event of the account itself. */
  readonly link_id: LinkId | null
  readonly kind: StoredEventKind
  readonly reason: EndReason | null
  readonly bytes: number | null
  readonly times: number
  readonly file: string | null
  readonly sender: string | null
  /** Name of the link, or of one of its targets. */
  readonly title: string | null
  readonly ends_at: number | null
}

export function untoldNews(
  trx: Trx,
  account: AccountId,
  since: number,
  limit: number,
): Promise<LinkNewsRow[]> {
  return trx
    .selectFrom('link_events')
    .leftJoin('links', 'links.id', 'link_events.link_id')
    .leftJoin('files', (join) =>
      join
        .onRef('files.id', '=', 'link_events.file_id')
        .on('files.removed_at', 'is', null)
        .on('link_events.kind', '=', 'link.arrived'),
    )
    .leftJoin('contributions', 'contributions.file_uuid', 'files.uuid')
    .select([
      'link_events.id',
      'link_events.link_id',
      'link_events.kind',
      'link_events.reason',
      'link_events.bytes',
      'link_events.times',
      'links.ends_at',
      'files.name as file',
      'contributions.sender',
    ])
    .select(({ fn, ref, selectFrom }) =>
      fn
        .coalesce(
          ref('links.name'),
          selectFrom('link_targets')
            .innerJoin('folders', 'folders.id', 'link_targets.folder_id')
            .whereRef('link_targets.link_id', '=', 'links.id')
            .select('folders.name')
            .orderBy('link_targets.position')
            .limit(1),
          selectFrom('link_targets')
            .innerJoin('files', 'files.id', 'link_targets.file_id')
            .whereRef('link_targets.link_id', '=', 'links.id')
            // A file that another account has claimed is not named.
            .whereRef('files.account_id', '=', 'links.account_id')
            .select('files.name')
            .orderBy('link_targets.position')
            .limit(1),
          selectFrom('link_uploads')
            .innerJoin('folders', 'folders.id', 'link_uploads.folder_id')
            .whereRef('link_uploads.link_id', '=', 'links.id')
            .select('folders.name')
            .limit(1),
          ref('links.slug'),
        )
        .as('title'),
    )
    .where('link_events.account_id', '=', account)
    .where('link_events.mailed', '=', 0)
    .where('link_events.at', '>', since)
    .orderBy('link_events.id')
    .limit(limit)
    .execute()
}

export async function markNewsTold(trx: Trx, ids: readonly LinkEventId[]): Promise<void> {
  await trx.updateTable('link_events').set({ mailed: 1 }).where('id', 'in', ids).execute()
}

/** Milliseconds. */
const SOON = DAY
const STEP = 100

export async function notifyLinkEnds(
  db: Database,
  clock: Pick<Clock, 'now'>,
  mayGoOn: () => boolean,
): Promise<void> {
  const now = clock.now()
  await inSteps(
    db,
    mayGoOn,
    () => linksEnding(db, now + SOON, 'soon', STEP),
    async (trx, link) => {
      const isSoon = (await noteEndSoon(trx, link)) && link.ends_at > now
      if (isSoon) await noteEvent(trx, { ...eventOf(link), kind: 'link.ends_soon', at: now })
    },
  )
  await inSteps(
    db,
    mayGoOn,
    () => linksEnding(db, now, 'over', STEP),
    async (trx, link) => {
      if (!(await endsStill(trx, link))) return
      await noteEnd(trx, link, 'time', now, { isTold: link.ends_at > now - LASTS })
    },
  )
}

export function notifyDownloads(
  db: Database,
  clock: Pick<Clock, 'now'>,
  mayGoOn: () => boolean,
): Promise<void> {
  const now = clock.now()
  return inSteps(
    db,
    mayGoOn,
    () => linksToNotify(db, now, STEP),
    (trx, link) => notifyBatchedDownloads(trx, link, now),
  )
}

const eventOf = ({ id, account }: OwnedLink) => ({ link: id, account })

/** The query must not find a link again after `work`. */
async function inSteps<Link extends OwnedLink>(
  db: Database,
  mayGoOn: () => boolean,
  find: () => Promise<Link[]>,
  work: (trx: Trx, link: Link) => Promise<void>,
): Promise<void> {
  while (mayGoOn()) {
    const links = await find()
    for (const link of links) {
      await inTransaction(db, async (trx) => {
        await lockOwner(trx, link.account)
        await work(trx, link)
      })
    }
    if (links.length < STEP) return
    await yieldToEventLoop()
  }
}

type EndingLink = OwnedLink & { readonly ends_at: number }

async function linksEnding(
  db: Database,
  before: number,
  what: 'soon' | 'over',
  most: number,
): Promise<EndingLink[]> {
  const links = db
    .selectFrom('links')
    .select(['id', 'account_id as account'])
    .select((link) => link.ref('ends_at').$notNull().as('ends_at'))
    .where('ends_at', 'is not', null)
    .where('ends_at', '<=', before)
    .where('revoked_at', 'is', null)
    .where('end_notified', '<', END_NOTIFIED)
    .orderBy('ends_at')
    .limit(most)
  return (what === 'soon' ? links.where('end_notified', '=', END_PENDING) : links).execute()
}

/** Locks the link. False when its end was changed. */
async function endsStill(trx: Trx, { id, ends_at }: EndingLink): Promise<boolean> {
  const row = await trx
    .selectFrom('links')
    .select('id')
    .where('id', '=', id)
    .where('ends_at', '=', ends_at)
    .where('revoked_at', 'is', null)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
  return row !== undefined
}

/** False when the end was notified or changed meanwhile. */
async function noteEndSoon(trx: Trx, { id, ends_at }: EndingLink): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('links')
    .set({ end_notified: END_SOON_NOTIFIED })
    .where('id', '=', id)
    .where('ends_at', '=', ends_at)
    .where('revoked_at', 'is', null)
    .where('end_notified', '=', END_PENDING)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
