import { findAccountByName, hasAdmin } from '../database/accounts.ts'
import { lockMigrations } from '../database/differences.ts'
import { dropLinks, dropLinksOver, findLink, insertLink } from '../database/one-time-links.ts'
import type { Db, LinkPurpose } from '../database/schema.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Administrator, COMMAND_LINE } from '../domain/audit.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { noteDeed } from './audit.ts'

/** A link that somebody is given, and that works once. */
export interface OneTimeLink {
  /** Path on the site; what is secret of it is kept nowhere. */
  readonly path: string
  readonly expiresAt: number
}

export interface OneTimeLinks {
  /** Makes the first administrator; null when there is one. */
  welcome(): Promise<OneTimeLink | null>
  /** Makes an account. */
  invitation(by: Administrator): Promise<OneTimeLink>
  /**
   * For the command line: sets the password of an account, whether it has one or not; an older link ends. Throws Refusal
   * NOT_FOUND.
   */
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

async function makeLink(
  trx: Db,
  clock: Clock,
  random: Random,
  purpose: LinkPurpose,
  account: AccountId | null,
): Promise<OneTimeLink> {
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

/** A link that sets the password of the account; an older one ends. */
export async function makePasswordLink(
  trx: Db,
  clock: Clock,
  random: Random,
  account: AccountId,
): Promise<OneTimeLink> {
  await dropLinks(trx, 'password', account)
  return makeLink(trx, clock, random, 'password', account)
}

export function createOneTimeLinks(db: Db, clock: Clock, random: Random): OneTimeLinks {
  return {
    welcome: () =>
      inTransaction(db, async (trx) => {
        await lockMigrations(trx)
        return (await hasAdmin(trx)) ? null : makeLink(trx, clock, random, 'welcome', null)
      }),

    invitation: (by) =>
      inTransaction(db, async (trx) => {
        await noteDeed(trx, clock, by, { act: 'invitation.made', object: null })
        return makeLink(trx, clock, random, 'invitation', by.account)
      }),

    async password(username) {
      const account = await findAccountByName(db, username.toLowerCase())
      if (account === undefined) {
        throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
      }
      return inTransaction(db, async (trx) => {
        await noteDeed(trx, clock, COMMAND_LINE, { act: 'account.linked', object: account.username })
        return makePasswordLink(trx, clock, random, account.id)
      })
    },

    works: async (purpose, token) =>
      (await findLink(db, hashToken(token), purpose, clock.now())) !== undefined,
  }
}

export function invalidLink(): Refusal {
  return new Refusal('INVALID_LINK', 'This link was used before, or is too old; ask for a new one')
}
