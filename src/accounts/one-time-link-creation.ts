import { hashToken } from '../core/token-hash.ts'
import type { Trx } from '../database/database.ts'
import type { LinkPurpose } from '../database/schema.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { dropExpiredOneTimeLinks, dropOneTimeLinks, insertOneTimeLink } from './one-time-links.rows.ts'

export interface OneTimeLink {
  /** Its secret is not stored. */
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

export type CreateOneTimeLink = (
  trx: Trx,
  purpose: LinkPurpose,
  account: AccountId | null,
  lasts?: number,
) => Promise<OneTimeLink>

/** `lasts`: milliseconds; defaults by purpose. */
export function oneTimeLinkCreator(clock: Clock, random: Random): CreateOneTimeLink {
  return async (trx, purpose, account, lasts = LASTS[purpose]) => {
    const token = Buffer.from(random(24)).toString('base64url')
    const now = clock.now()
    const expiresAt = now + lasts
    await dropExpiredOneTimeLinks(trx, now)
    await insertOneTimeLink(trx, {
      token_hash: hashToken(token),
      purpose,
      account_id: account,
      created_at: now,
      expires_at: expiresAt,
    })
    return { path: PATHS[purpose] + token, expiresAt }
  }
}

export async function makePasswordLink(
  trx: Trx,
  make: CreateOneTimeLink,
  account: AccountId,
): Promise<OneTimeLink> {
  await dropOneTimeLinks(trx, 'password', account)
  return make(trx, 'password', account)
}
