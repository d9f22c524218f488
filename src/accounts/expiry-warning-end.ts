import { findAccount } from '../core/accounts.rows.ts'
import type { Signing } from '../core/hmac.ts'
import type { Database } from '../database/database.ts'
import type { AccountId } from '../domain/ids.ts'
import { endWarnings } from '../mail/mail-addresses.rows.ts'
import { invalidLink } from './one-time-links.ts'

/** Unsubscribe link of warning mails: signed, needs no session, never expires. */
export interface WarningEnd {
  pathOf(account: AccountId): string
  /** Changes nothing. Throws Refusal INVALID_LINK. */
  look(token: string): Promise<{ readonly username: string }>
  /** Idempotent. Throws Refusal INVALID_LINK. */
  end(token: string): Promise<void>
}

const PURPOSE = 'end of warnings'

export function createWarningEnd(db: Database, signing: Signing): WarningEnd {
  function accountOf(token: string): AccountId {
    const account = signing.verify(PURPOSE, token)
    if (typeof account !== 'number') throw invalidLink()
    return account as AccountId
  }

  return {
    pathOf: (account) => `/unsubscribe/${signing.sign(PURPOSE, account)}`,

    async look(token) {
      const owner = await findAccount(db, accountOf(token))
      if (owner === undefined || owner.removed_at !== null) throw invalidLink()
      return { username: owner.username }
    },

    end: async (token) => endWarnings(db, accountOf(token)),
  }
}
