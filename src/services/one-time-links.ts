import type { SignUp as Mode } from '../config.ts'
import { findAccountByName, hasAdmin } from '../database/accounts.ts'
import { lockMigrations } from '../database/differences.ts'
import { findLink } from '../database/one-time-links.ts'
import type { Db, LinkPurpose } from '../database/schema.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Actor, COMMAND_LINE } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { noteDeed } from './audit.ts'
import { type MakeLink, makePasswordLink, type OneTimeLink } from './link-making.ts'

export interface OneTimeLinks {
  /** Makes the first administrator; null when there is one. */
  welcome(): Promise<OneTimeLink | null>
  /** Makes an account. Throws Refusal SIGN_UP_CLOSED where nobody could use it. */
  invitation(by: Actor): Promise<OneTimeLink>
  /**
   * For the command line: sets the password of an account, whether it has one or not; an older link ends. Throws Refusal
   * NOT_FOUND.
   */
  password(username: string): Promise<OneTimeLink>
  /** Whether the link would still work, without using it. */
  works(purpose: LinkPurpose, token: string): Promise<boolean>
}

export function createOneTimeLinks(db: Db, clock: Clock, make: MakeLink, mode: Mode): OneTimeLinks {
  return {
    welcome: () =>
      inTransaction(db, async (trx) => {
        await lockMigrations(trx)
        return (await hasAdmin(trx)) ? null : make(trx, 'welcome', null)
      }),

    async invitation(by) {
      assertOpen(mode)
      return inTransaction(db, async (trx) => {
        await noteDeed(trx, clock, by, { act: 'invitation.made', object: null })
        return make(trx, 'invitation', by.kind === 'administrator' ? by.account : null)
      })
    },

    async password(username) {
      const account = await findAccountByName(db, username.toLowerCase())
      if (account === undefined) {
        throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
      }
      return inTransaction(db, async (trx) => {
        await noteDeed(trx, clock, COMMAND_LINE, { act: 'account.linked', object: account.username })
        return makePasswordLink(trx, make, account.id)
      })
    },

    works: async (purpose, token) =>
      (await findLink(db, hashToken(token), purpose, clock.now())) !== undefined,
  }
}

/** Throws Refusal SIGN_UP_CLOSED where nobody gets an account, with an invitation or without. */
export function assertOpen(mode: Mode): void {
  if (mode === 'closed')
    throw new Refusal(
      'SIGN_UP_CLOSED',
      'Sign-up is closed on this server; ask its administrators for an account',
    )
}

export function invitationNeeded(): Refusal {
  return new Refusal('INVITATION_NEEDED', 'You need an invitation from an administrator to sign up')
}

export function invalidLink(): Refusal {
  return new Refusal('INVALID_LINK', 'This link was used before, or is too old; ask for a new one')
}
