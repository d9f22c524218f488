import { dropLinks, dropLinksOver, insertLink } from '../database/one-time-links.ts'
import type { Db, LinkPurpose } from '../database/schema.ts'
import { hashToken } from '../database/token-hash.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'

/** A link that somebody is given, and that works once. */
export interface OneTimeLink {
  /** Path on the site; what is secret of it is kept nowhere. */
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
  trx: Db,
  purpose: LinkPurpose,
  account: AccountId | null,
  lasts?: number,
) => Promise<OneTimeLink>

/** What makes links, each good for `lasts` milliseconds, or as long as its purpose usually takes. */
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

/** A link that sets the password of the account; an older one ends. */
export async function makePasswordLink(trx: Db, make: MakeLink, account: AccountId): Promise<OneTimeLink> {
  await dropLinks(trx, 'password', account)
  return make(trx, 'password', account)
}
