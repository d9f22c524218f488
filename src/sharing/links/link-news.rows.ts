import type { Database, Trx } from '../../database/database.ts'
import type { Row } from '../../database/schema.ts'
import type { EndReason, StoredEventKind } from '../../domain/event-kinds.ts'
import type { AccountId, LinkEventId, LinkId } from '../../domain/ids.ts'
import {
  type MailRecipient,
  mailRecipients,
  notMailedSince,
  updateRecipient,
} from '../../mail/recipients.rows.ts'

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
