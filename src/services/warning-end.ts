import { findAccount } from '../database/accounts.ts'
import { endWarnings } from '../database/mail-addresses.ts'
import type { Db } from '../database/schema.ts'
import type { AccountId } from '../domain/ids.ts'
import { invalidLink } from './one-time-links.ts'
import type { Signing } from './signing.ts'

/** The link in each warning of files that go, by which its reader ends them: by it alone, whenever that is. */
export interface WarningEnd {
  pathOf(account: AccountId): string
  /** Whose warnings the link ends. Changes nothing. Throws Refusal INVALID_LINK. */
  look(token: string): Promise<{ readonly username: string }>
  /** Ends them; ending twice does nothing. Throws Refusal INVALID_LINK. */
  end(token: string): Promise<void>
}

const PURPOSE = 'end of warnings'

export function createWarningEnd(db: Db, signing: Signing): WarningEnd {
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
