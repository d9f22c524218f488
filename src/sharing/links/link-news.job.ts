/** Mails owners news of their links and of nearly full storage. */

import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY, HOUR, MINUTE, yieldToEventLoop } from '../../domain/clock.ts'
import { type AccountId, GUESTS } from '../../domain/ids.ts'
import type { LinkNewsItem } from '../../domain/mail-content.ts'
import type { EndableMails } from '../../mail/outbox.ts'
import { type LinkNewsRow, markNewsTold, newsRecipients, noteNewsTold, untoldNews } from './link-news.rows.ts'

/** Later events within this time join the first one's mail. */
const TOGETHER = 5 * MINUTE
const MOST_ITEMS = 20
const MOST_NAMES = 20
const MOST_EVENTS = 1000
const ACCOUNTS = 50
/** Milliseconds after which an event is not mailed any more. */
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
