import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { GUEST_REACH } from '../../domain/access.ts'
import { HOUR } from '../../domain/clock.ts'
import { GUESTS, type LinkId, type LinkSlug } from '../../domain/ids.ts'
import { linkIsOver } from '../../uploads/receipts/receipts.ts'
import type { LinkLog, OwnLink } from './link-reading.ts'
import type { LinkTerms } from './link-terms.ts'
import { linkById } from './links.rows.ts'
import type { Links } from './links.ts'

/** Authorized by receipts. Throw Refusal NOT_FOUND for a link that is gone, revoked, or an account's. */
export interface GuestLinks {
  get(link: LinkId): Promise<OwnLink>
  /** `bucket`: the client's address. Also throws Refusal INVALID_REQUEST or RATE_LIMITED. */
  change(link: LinkId, bucket: string, terms: Omit<LinkTerms, 'uploads'>): Promise<OwnLink>
  log(link: LinkId, page: number, perPage: number): Promise<LinkLog>
}

/** Per address and hour: hashing a password costs work. */
const CHANGES = 200

export function createGuestLinks(
  db: Database,
  rates: RateLimits,
  links: Pick<Links, 'get' | 'change' | 'log'>,
): GuestLinks {
  async function slugOf(id: LinkId): Promise<LinkSlug> {
    const link = await linkById(db, id)
    if (link === undefined || link.account_id !== GUESTS || link.revoked_at !== null) throw linkIsOver()
    return link.slug
  }

  return {
    get: async (link) => links.get(GUEST_REACH, await slugOf(link)),

    async change(link, bucket, terms) {
      const slug = await slugOf(link)
      const windows = [{ subject: `link-changes-of:${bucket}`, limit: CHANGES, length: HOUR }]
      await countTry(rates, windows, 'Too many changes from this address; wait a while and try again')
      return links.change(GUEST_REACH, slug, terms)
    },

    log: async (link, page, perPage) => links.log(GUEST_REACH, await slugOf(link), page, perPage),
  }
}
