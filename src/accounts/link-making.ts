import { hashToken } from '../core/token-hash.ts'
import type { Trx } from '../database/database.ts'
import type { LinkPurpose } from '../database/schema.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { dropLinks, dropLinksOver, insertLink } from './one-time-links.rows.ts'

/** A one-time link. */
export interface OneTimeLink {
  /** Path on the site; its secret part is not stored. */
  readonly path: string
  readonly expiresAt: number
}

const LASTS: Readonly<Record<LinkPurpose, number>> = {
  welcome: 30 * DAY,
  invitation: 7 * DAY,
  password: 7 * DAY,
  mail: DAY,
}

const PATHS: Readonly<Record<LinkPurpose, string>> = {
  welcome: '/welcome/',
  invitation: '/sign-up/',
  password: '/set-password/',
  mail: '/verify-mail/',
}

export type MakeLink = (
  trx: Trx,
  purpose: LinkPurpose,
  account: AccountId | null,
  lasts?: number,
) => Promise<OneTimeLink>

/** Creates links that are valid for `lasts` milliseconds, or as long as is usual for their purpose. */
export function createLinkMaking(clock: Clock, random: Random): MakeLink {
  return async (trx, purpose, account, lasts = LASTS[purpose]) => {
    const token = Buffer.from(random(24)).toString('base64url')
    const now = clock.now()
    const expiresAt = now + lasts
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
}

/** A link that sets the password of the account; replaces an earlier one. */
export async function makePasswordLink(trx: Trx, make: MakeLink, account: AccountId): Promise<OneTimeLink> {
  await dropLinks(trx, 'password', account)
  return make(trx, 'password', account)
}
