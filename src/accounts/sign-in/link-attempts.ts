import { tryOnce } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import { hashToken } from '../../core/token-hash.ts'
import type { Database } from '../../database/database.ts'
import type { LinkPurpose } from '../../database/schema.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import { findOneTimeLink, type OneTimeLinkRow } from '../one-time-links.rows.ts'
import { invalidLink } from '../one-time-links.ts'

/** Per link and hour: grading and hashing a password is expensive. */
const TRIES_PER_LINK = 10

export class LinkAttempts {
  readonly #db: Database
  readonly #rates: RateLimits
  readonly #clock: Clock

  constructor(db: Database, rates: RateLimits, clock: Clock) {
    this.#db = db
    this.#rates = rates
    this.#clock = clock
  }

  /** Throws Refusal INVALID_LINK. */
  async find(purpose: LinkPurpose, token: string): Promise<OneTimeLinkRow> {
    const link = await findOneTimeLink(this.#db, hashToken(token), purpose, this.#clock.now())
    if (link === undefined) throw invalidLink()
    return link
  }

  /**
   * Counts failures by link, not by address, so that others at the address cannot use them up. An invalid
   * link hashes no password and counts no attempt. Throws what `work` throws, and Refusal INVALID_LINK or
   * RATE_LIMITED.
   */
  async attempt(purpose: LinkPurpose, token: string, work: () => Promise<void>): Promise<void> {
    await this.find(purpose, token)
    const subject = `sign-up-link:${hashToken(token)}`
    const windows = [{ subject, limit: TRIES_PER_LINK, length: HOUR }] as const
    const message = 'Too many new passwords by this link; wait a while and try again'
    const isDone = await tryOnce(this.#rates, windows, { message, tried: null }, async () => {
      // The link may have been used while this try waited for its turn.
      if ((await findOneTimeLink(this.#db, hashToken(token), purpose, this.#clock.now())) === undefined)
        return false
      await work()
      return true
    })
    if (!isDone) throw invalidLink()
  }
}
