import * as z from 'zod/mini'
import type { Notice as NoticeOnWire } from '../contract/notice.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import { dropMeta, metaOf, setMeta } from '../core/meta.rows.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, optionalTime } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { isDue, NOTICE_LEVELS, type Notice, parseNotice } from '../domain/notice.ts'

const KEY = 'notice'

/** Stored in the database; each node reads changes within seconds. */
export function createNotices(db: Database, clock: Clock) {
  let known: Notice | null = null

  async function kept(): Promise<Notice | null> {
    const text = await metaOf(db, KEY)
    return text === null ? null : parseKept(text)
  }

  return {
    /** From memory, so that error pages can show it too. */
    shown: (): Notice | null => (known !== null && isDue(known, clock.now()) ? known : null),

    /** Due or not. */
    async get(): Promise<NoticeOnWire | null> {
      const notice = await kept()
      return notice === null ? null : onWire(notice)
    },

    /** Throws Refusal INVALID_REQUEST, also for one that is over already. */
    async set(actor: Actor, given: Notice): Promise<NoticeOnWire> {
      const notice = parseNotice(given)
      if (notice.until !== null && notice.until <= clock.now()) {
        throw new Refusal('INVALID_REQUEST', '"until": must be in the future, or nobody would see the notice')
      }
      await inTransaction(db, async (trx) => {
        await setMeta(trx, KEY, JSON.stringify(notice))
        const details = onWire(notice)
        await recordAuditEntry(trx, clock, actor, { act: 'notice.set', object: null, details })
      })
      known = notice
      return onWire(notice)
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
      known = await kept()
    },
  }
}

export type NoticeBoard = ReturnType<typeof createNotices>

const keptNotice = z.object({
  text: z.string(),
  level: z.enum(NOTICE_LEVELS),
  from: z.nullable(z.int()),
  until: z.nullable(z.int()),
})

function parseKept(text: string): Notice {
  return keptNotice.parse(JSON.parse(text))
}

function onWire({ text, level, from, until }: Notice): NoticeOnWire {
  return { text, level, from: optionalTime(from), until: optionalTime(until) }
}
