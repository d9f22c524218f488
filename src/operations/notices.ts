import { recordAuditEntry } from '../core/audit-log.ts'
import { dropMeta, metaOf, setMeta } from '../core/meta.rows.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, optionalTime } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { isDue, type Notice, parseNotice } from '../domain/notice.ts'

/** Stored in the database; each node reads changes within seconds. */
export interface NoticeBoard {
  /** From memory, so that error pages can show it too. */
  shown(): Notice | null
  /** Due or not. */
  get(): Promise<Notice | null>
  /** Throws Refusal INVALID_REQUEST, also for one that is over already. */
  set(actor: Actor, notice: Notice): Promise<Notice>
  clear(actor: Actor): Promise<void>
  refresh(): Promise<void>
}

const KEY = 'notice'

export function createNotices(db: Database, clock: Clock): NoticeBoard {
  let known: Notice | null = null

  async function get(): Promise<Notice | null> {
    const text = await metaOf(db, KEY)
    return text === null ? null : parseKept(text)
  }

  return {
    shown: () => (known !== null && isDue(known, clock.now()) ? known : null),
    get,

    async set(actor, given) {
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

    async clear(actor) {
      await inTransaction(db, async (trx) => {
        const before = await metaOf(trx, KEY)
        if (before === null) return
        await dropMeta(trx, [KEY])
        const details = { text: parseKept(before).text }
        await recordAuditEntry(trx, clock, actor, { act: 'notice.cleared', object: null, details })
      })
      known = null
    },

    async refresh() {
      known = await get()
    },
  }
}

function parseKept(text: string): Notice {
  return JSON.parse(text)
}
