import { type AuditRow, countAudit, insertAudit, listAudit } from '../database/audit-log.ts'
import type { Db } from '../database/schema.ts'
import type { Act, Actor, Deed } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'

/** Writes down what an administrator does, in the transaction that does it: neither is there without the other. */
export async function noteDeed(trx: Db, clock: Clock, actor: Actor, deed: Deed): Promise<void> {
  const isKnown = actor.kind === 'administrator'
  await insertAudit(trx, {
    at: clock.now(),
    account_id: isKnown ? actor.account : null,
    username: isKnown ? actor.username : null,
    address: isKnown ? actor.address : null,
    act: deed.act,
    object: deed.object,
    details: JSON.stringify(deed.details ?? {}),
  })
}

export type KeptDeed = AuditRow

/** What administrators did: to be read, never to be changed. */
export interface AuditLog {
  /** A page, the newest first. `act` null: of every kind. */
  list(
    act: Act | null,
    page: number,
    perPage: number,
  ): Promise<{ readonly deeds: readonly KeptDeed[]; readonly total: number }>
}

export function createAuditLog(db: Db): AuditLog {
  return {
    async list(act, page, perPage) {
      const deeds = await listAudit(db, act, (page - 1) * perPage, perPage)
      return { deeds, total: await countAudit(db, act) }
    },
  }
}
