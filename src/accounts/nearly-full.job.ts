/** Notifies owners once until there is room again. */
import { accountsNearlyFull, forgetNearlyFull, noteNearlyFull } from '../core/accounts.rows.ts'
import { noteEvent } from '../core/link-events.rows.ts'
import type { Database } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, yieldToEventLoop } from '../domain/clock.ts'

const STEP = 100

export async function notifyNearlyFull(
  db: Database,
  clock: Pick<Clock, 'now'>,
  storageLimit: number,
  mayGoOn: () => boolean,
): Promise<void> {
  await forgetNearlyFull(db, storageLimit)
  while (mayGoOn()) {
    const accounts = await accountsNearlyFull(db, storageLimit, STEP)
    for (const { id: account, storage_used: bytes } of accounts) {
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        const now = clock.now()
        if (!(await noteNearlyFull(trx, account, now))) return
        await noteEvent(trx, { account, link: null, kind: 'storage.nearly_full', at: now, bytes })
      })
    }
    if (accounts.length < STEP) return
    await yieldToEventLoop()
  }
}
