import {
  linksToNotify,
  lockOwner,
  noteEnd,
  noteEvent,
  notifyBatchedDownloads,
  type OwnedLink,
} from '../../core/link-events.rows.ts'
import { yieldToEventLoop } from '../../core/yielding.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import { endsStill, linksEnding, noteEndSoon } from './link-ends.rows.ts'

/** Milliseconds. */
const SOON = DAY
/** Milliseconds: after an outage many ends may be pending. */
const LASTS = 3 * DAY
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
