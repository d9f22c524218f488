import { findAccountByName, hasAdmin } from '../database/accounts.ts'
import { lockMigrations } from '../database/differences.ts'
import { dropLinks, findLink } from '../database/one-time-links.ts'
import type { Db, LinkPurpose } from '../database/schema.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { SessionCaller } from './caller.ts'
import type { MakeLink, OneTimeLink } from './link-making.ts'

export interface OneTimeLinks {
  /** Makes the first administrator; null when there is one. */
  welcome(): Promise<OneTimeLink | null>
  /** Makes an account. Throws Refusal ADMIN_NEEDED. */
  invitation(by: SessionCaller): Promise<OneTimeLink>
  /** Sets the password of an account, whether it has one or not; an older link ends. Throws Refusal NOT_FOUND. */
  password(username: string): Promise<OneTimeLink>
  /** Whether the link would still work, without using it. */
  works(purpose: LinkPurpose, token: string): Promise<boolean>
}

export function createOneTimeLinks(db: Db, clock: Clock, make: MakeLink): OneTimeLinks {
  return {
    welcome: () =>
      inTransaction(db, async (trx) => {
        await lockMigrations(trx)
        return (await hasAdmin(trx)) ? null : make(trx, 'welcome', null)
      }),

    async invitation({ account, by }) {
      if (!by.isAdmin) throw new Refusal('ADMIN_NEEDED', 'Only administrators can invite somebody')
      return inTransaction(db, (trx) => make(trx, 'invitation', account))
    },

    async password(username) {
      const account = await findAccountByName(db, username.toLowerCase())
      if (account === undefined) {
        throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
      }
      return inTransaction(db, async (trx) => {
        await dropLinks(trx, 'password', account.id)
        return make(trx, 'password', account.id)
      })
    },

    works: async (purpose, token) =>
      (await findLink(db, hashToken(token), purpose, clock.now())) !== undefined,
  }
}

export function invalidLink(): Refusal {
  return new Refusal('INVALID_LINK', 'This link was used before, or is too old; ask for a new one')
}
