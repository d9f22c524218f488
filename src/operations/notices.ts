import { recordAuditEntry } from '../core/audit-log.ts'
import { dropMeta, metaOf, setMeta } from '../core/meta.rows.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, optionalTime } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { isDue, type Notice, parseNotice } from '../domain/notice.ts'

const KEY = 'notice'

/** Stored in the database; each node reads changes within seconds. */
export function createNotices(db: Database, clock: Clock) {
  let known: Notice | null = null

  /** Due or not. */
  async function get(): Promise<Notice | null> {
    const text = await metaOf(db, KEY)
    return text === null ? null : parseKept(text)
  }

  return {
    /** From memory, so that error pages can show it too. */
    shown: (): Notice | null => (known !== null && isDue(known, clock.now()) ? known : null),

    get,

    /** Throws Refusal INVALID_REQUEST, also for one that is over already. */
    async set(actor: Actor, given: Notice): Promise<Notice> {
      const notice = parseNotice(given)
      if (notice.until !== null && notice.until <= clock.now()) {
        throw new Refusal('INVALID_REQUEST', '"until": must be in the future, or nobody would see the notice')
      }
      await inTransaction(db, async (trx) => {
        await setMeta(trx, KEY, JSON.stringify(notice))
        const { text, level, from, until } = notice
        const details = { text, level, from: optionalTime(from), until: optionalTime(until) }
        await recordAuditEntry(trx, clock, actor, { act: 'notice.set', object: null, details })
      })
      known = notice
      return notice
    },

    async clear(actor: Actor): Promise<void> {
      await inTransaction(db, async (trx) => {
        const before = await metaOf(trx, KEY)
        if (before === null) return
        await dropMeta(trx, [KEY])
        const details = { text: parseKept(before).text }
        await recordAuditEntry(trx, clock, actor, { act: 'notice.cleared', object: null, details })
      })
      known = null
    },

    async refresh(): Promise<void> {
      known = await get()
    },
  }
}

export type NoticeBoard = ReturnType<typeof createNotices>

function parseKept(text: string): Notice {
  return JSON.parse(text)
}
