import { dropMeta, metaOf, setMeta } from '../database/meta.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, timestamp } from '../domain/clock.ts'
import { isDue, type Notice, parseNotice } from '../domain/notice.ts'
import { noteDeed } from './audit.ts'

/** What administrators tell everybody. Kept in the database, and known to each node some seconds later at most. */
export interface Notices {
  /** What pages show now. Asks nobody, so that a page of an error can show it too. */
  shown(): Notice | null
  /** The one there is, due or not. */
  get(): Promise<Notice | null>
  /** Takes the place of the one before. Throws Refusal INVALID_REQUEST. */
  set(actor: Actor, notice: Notice): Promise<Notice>
  clear(actor: Actor): Promise<void>
  /** Learns what other nodes or the command line have changed. */
  refresh(): Promise<void>
}

const KEY = 'notice'

export function createNotices(db: Db, clock: Clock): Notices {
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
      await inTransaction(db, async (trx) => {
        await setMeta(trx, KEY, JSON.stringify(notice))
        const { text, level, from, until } = notice
        const time = (at: number | null) => (at === null ? null : timestamp(at))
        const details = { text, level, from: time(from), until: time(until) }
        await noteDeed(trx, clock, actor, { act: 'notice.set', object: null, details })
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
        await noteDeed(trx, clock, actor, { act: 'notice.cleared', object: null, details })
      })
      known = null
    },

    async refresh() {
      known = await get()
    },
  }
}

/** What `set` has written. */
function parseKept(text: string): Notice {
  return JSON.parse(text)
}
