/** Tells owners by mail of what came by their upload links. */
import { yieldToEventLoop } from '../../core/batches.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../../domain/clock.ts'
import { type AccountId, GUESTS } from '../../domain/ids.ts'
import type { FilesReceived } from '../../domain/letter.ts'
import type { Outbox } from '../../mail/outbox.ts'
import { type Arrival, markTold, noteTold, ownersToTell, untoldArrivals } from './arrival-mails.rows.ts'

/** What comes in this time after the first is in the same mail: people send several files. */
const TOGETHER = 5 * MINUTE
/** Files that a mail names; it counts the others. */
const MOST_NAMES = 20
/** Files of one mail. */
const MOST_FILES = 1000
/** Accounts of one query. */
const ACCOUNTS = 50
/** Milliseconds for which something is worth telling. */
const LASTS = 3 * DAY

export interface ArrivalMails {
  readonly outbox: Outbox
  /** Path of the link that ends such mails. */
  readonly unsubscribePath: (account: AccountId) => string
}

/** Each address gets at most one mail an hour, with all that it was not told of. */
export async function tellOfArrivals(
  db: Database,
  clock: Pick<Clock, 'now'>,
  { outbox, unsubscribePath }: ArrivalMails,
  mayGoOn: () => boolean,
): Promise<void> {
  if (!outbox.isOpen) return
  const now = clock.now()
  let after: AccountId = GUESTS
  while (mayGoOn()) {
    const came = { after: now - LASTS, before: now - TOGETHER }
    const asked = { after, toldBefore: now - HOUR, came, limit: ACCOUNTS }
    const owners = await ownersToTell(db, asked)
    for (const owner of owners) {
      const { account_id: account, address: to, language, username } = owner
      after = account
      await inTransaction(db, async (trx) => {
        if (!(await noteTold(trx, owner, now))) return
        const arrivals = await untoldArrivals(trx, account, came.after, MOST_FILES)
        if (arrivals.length === 0) return
        await markTold(
          trx,
          arrivals.map(({ id }) => id),
        )
        const letter = letterOf(arrivals, username, unsubscribePath(account))
        await outbox.put(trx, { account, to, language, letter, lasts: LASTS })
      })
      await yieldToEventLoop()
    }
    if (owners.length < ACCOUNTS) return
  }
}

function letterOf(arrivals: readonly Arrival[], username: string, unsubscribePath: string): FilesReceived {
  const titles = [...new Set(arrivals.map(({ title }) => title))]
  const [title = ''] = titles
  const named = arrivals.slice(0, MOST_NAMES)
  return {
    kind: 'files received',
    username,
    title: titles.length === 1 ? title : null,
    files: named.map(({ name, sender }) => ({ name, sender })),
    more: arrivals.length - named.length,
    unsubscribePath,
  }
}
