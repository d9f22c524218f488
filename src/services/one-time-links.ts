import { findAccountByName, hasAdmin } from '../database/accounts.ts'
import { lockMigrations } from '../database/differences.ts'
import { dropLinks, dropLinksOver, findLink, insertLink } from '../database/one-time-links.ts'
import type { Db, LinkPurpose } from '../database/schema.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { SessionCaller } from './caller.ts'

/** A link that somebody is given, and that works once. */
export interface OneTimeLink {
  /** Path on the site; what is secret of it is kept nowhere. */
  readonly path: string
  readonly expiresAt: number
}

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

const LASTS: Readonly<Record<LinkPurpose, number>> = {
  welcome: 30 * DAY,
  invitation: 7 * DAY,
  password: 7 * DAY,
}

const PATHS: Readonly<Record<LinkPurpose, string>> = {
  welcome: '/welcome/',
  invitation: '/sign-up/',
  password: '/set-password/',
}

export function createOneTimeLinks(db: Db, clock: Clock, random: Random): OneTimeLinks {
  async function make(trx: Db, purpose: LinkPurpose, account: AccountId | null): Promise<OneTimeLink> {
    const token = Buffer.from(random(24)).toString('base64url')
    const now = clock.now()
    const expiresAt = now + LASTS[purpose]
    await dropLinksOver(trx, now)
    await insertLink(trx, {
      token_hash: hashToken(token),
      purpose,
      account_id: account,
      created_at: now,
      expires_at: expiresAt,
    })
    return { path: PATHS[purpose] + token, expiresAt }
  }

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
