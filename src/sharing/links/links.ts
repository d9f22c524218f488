import { dropOldEvents, lockOwner, noteEnd, type OwnedLink } from '../../core/link-events.rows.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import {
  type Actor,
  assertMayWiden,
  type LinkLimits,
  mayWiden,
  opensLink,
  type Reach,
} from '../../domain/access.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { EndReason } from '../../domain/event-kinds.ts'
import type { LinkId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { dropEmptyGuestLinks, giveLeftLinks } from '../../uploads/receipts/guest-links.rows.ts'
import { abandonUploadsOfLink } from '../../uploads/resumable/concatenation.ts'
import { createLinkCreation, type LinkCreation } from './link-creation.ts'
import { createLinkReading, type LinkReading, linkNotFound, type OwnLink } from './link-reading.ts'
import { columnsOf, hashOf, type LinkTerms } from './link-terms.ts'
import { assertTermsFit, uploadColumns } from './link-uploads.ts'
import { dropExpiredLinks, linkById, updateLink, updateLinkUploads } from './links.rows.ts'

/** Out of a restricted caller's folder, links are LINK_NOT_FOUND, like missing ones. */
export interface Links extends LinkCreation, LinkReading {
  /** Throws as `make` does, and Refusal LINK_NOT_FOUND, also for a revoked link. */
  change(reach: Actor, slug: string, terms: LinkTerms): Promise<OwnLink>
  /** In force at once on every node, and aborts running uploads. Throws Refusal LINK_NOT_FOUND. */
  revoke(reach: Reach, slug: string): Promise<void>
  forgetOld(mayGoOn?: () => boolean): Promise<void>
}

/** A slug that was sent around is not reused before. */
const KEPT_FOR = 90 * DAY
const STEP = 100

export function createLinks(db: Database, rates: RateLimits, clock: Clock, random: Random): Links {
  const reading = createLinkReading(db)

  return {
    ...reading,
    ...createLinkCreation(db, reading, rates, clock, random),

    async change(reach, slug, terms) {
      const link = await reading.find(reach, slug)
      const { id, account_id: account, revoked_at, uploads_into: into } = link
      if (revoked_at !== null) throw new Refusal('LINK_NOT_FOUND', 'This link was revoked; make another one')
      assertTermsFit(terms, into !== null)
      const password_hash = await hashOf(terms.password)
      const uploads = terms.uploads === undefined ? {} : uploadColumns(terms.uploads)
      const columns = {
        ...columnsOf(terms, clock.now(), link.ends_at),
        ...(password_hash === undefined ? {} : { password_hash }),
      }
      await inTransaction(db, async (trx) => {
        await lockOwner(trx, account)
        if (!mayWiden(reach) && opensLink(await limitsOf(trx, id), { ...terms, password: password_hash }))
          assertMayWiden(reach)
        if (Object.keys(columns).length > 0) await updateLink(trx, { id, account }, columns)
        if (Object.keys(uploads).length > 0) await updateLinkUploads(trx, id, uploads)
      })
      return reading.get(reach, slug)
    },

    async revoke(reach, slug) {
      const {
        id,
        account_id: account,
        revoked_at,
        ends_at,
        uploads_into: into,
      } = await reading.find(reach, slug)
      const now = clock.now()
      // A pending end by time takes precedence.
      const reason = ends_at !== null && ends_at <= now ? 'time' : 'revoked'
      if (revoked_at === null) await inTransaction(db, (trx) => revokeNow(trx, { id, account }, reason, now))
      if (into !== null) await abandonUploadsOfLink(db, id, now)
    },

    async forgetOld(mayGoOn = () => true) {
      const before = clock.now() - KEPT_FOR
      while (mayGoOn() && (await dropExpiredLinks(db, before, STEP)) === STEP);
      while (mayGoOn() && (await giveLeftLinks(db, STEP)) === STEP);
      while (mayGoOn() && (await dropEmptyGuestLinks(db, before, STEP)) === STEP);
      while (mayGoOn() && (await dropOldEvents(db, before, STEP)) === STEP);
    },
  }
}

/** Read in the transaction: the owner may have narrowed them since the request began. */
async function limitsOf(trx: Trx, id: LinkId): Promise<LinkLimits> {
  const link = await linkById(trx, id)
  if (link === undefined || link.revoked_at !== null) throw linkNotFound()
  return {
    endsAt: link.ends_at,
    maxDownloads: link.max_downloads,
    hasPassword: link.password_hash !== null,
  }
}

async function revokeNow(trx: Trx, link: OwnedLink, reason: EndReason, now: number): Promise<void> {
  await lockOwner(trx, link.account)
  await updateLink(trx, link, { revoked_at: now })
  await noteEnd(trx, link, reason, now)
}
