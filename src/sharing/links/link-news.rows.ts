/** Owners to notify by mail of events of their links, and those events. */
import type { Database, Trx } from '../../database/database.ts'
import type { Row } from '../../database/schema.ts'
import type { AccountId, LinkEventId, LinkId } from '../../domain/ids.ts'
import type { EndReason, StoredEventKind } from '../../domain/link-event.ts'
import {
  type MailRecipient,
  mailRecipients,
  notMailedSince,
  updateRecipient,
} from '../../mail/recipients.rows.ts'

export type NewsRecipient = MailRecipient & Row<'mail_addresses', 'events_told_at'>

interface Asked {
  /** Accounts after this one, by id. */
  readonly after: AccountId
  /** Accounts that were last mailed by then. */
  readonly toldBefore: number
  /** Accounts with an event of that time that no mail has named. */
  readonly happened: { readonly after: number; readonly before: number }
  readonly limit: number
}

/** Owners with events to be mailed. */
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

/** Records a mail; false when another node has sent one meanwhile, or they have opted out. */
export async function noteNewsTold(trx: Trx, seen: NewsRecipient, now: number): Promise<boolean> {
  const { numUpdatedRows } = await updateRecipient(trx, seen)
    .set({ events_told_at: now })
    .where('events_told_at', 'is not distinct from', seen.events_told_at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export interface LinkNewsRow {
  readonly id: LinkEventId
  /** null: of the account itself. */
  readonly link_id: LinkId | null
  readonly kind: StoredEventKind
  readonly reason: EndReason | null
  readonly bytes: number | null
  readonly times: number
  /** What came by the link and is still there, and who sent it by their own account. */
  readonly file: string | null
  readonly sender: string | null
  /** Name of the link, or of something that it opens or fills. */
  readonly title: string | null
  readonly ends_at: number | null
}

/** Events of the account since then that no mail has named, oldest first. */
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
            // What somebody else has claimed is not named.
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
