import {
  linksToNotify,
  lockOwner,
  noteEnd,
  noteEvent,
  notifyBatchedDownloads,
  type OwnedLink,
} from '../../core/link-events.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY, yieldToEventLoop } from '../../domain/clock.ts'
import { END_SOON_TOLD, END_TOLD, END_UNTOLD } from '../../domain/event-kinds.ts'

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
    .where('end_told', '<', END_TOLD)
    .orderBy('ends_at')
    .limit(most)
  return (what === 'soon' ? links.where('end_told', '=', END_UNTOLD) : links).execute()
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
    .set({ end_told: END_SOON_TOLD })
    .where('id', '=', id)
    .where('ends_at', '=', ends_at)
    .where('revoked_at', 'is', null)
    .where('end_told', '=', END_UNTOLD)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
