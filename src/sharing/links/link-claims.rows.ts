import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnedLink } from '../../core/link-events.rows.ts'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import type { LinkDownloader } from '../../domain/access.ts'
import type { LinkClaimId, LinkId, LinkProgram, LinkVisitor } from '../../domain/ids.ts'

/** `sent` is in millionths of a file or a zip; of several, their sum. */
export const WHOLE = 1_000_000

interface ClaimProgress {
  readonly sent: number
  readonly running: number
}

export interface LinkClaim extends ClaimProgress {
  readonly id: LinkClaimId
  /** Of the transfers that have ended. */
  readonly bytes: number
}

/** Whether the claim has a place: bytes are being sent, or half of something was. */
export function isHolding({ running, sent }: ClaimProgress): boolean {
  return running > 0 || sent * 2 >= WHOLE
}

const holding: RawBuilder<SqlBool> = sql`(running > 0 or sent * 2 >= ${sql.lit(WHOLE)})`

/** Downloads of a link in a list. */
export const downloadsOfLink: RawBuilder<number> = sql`(
  links.downloads + (select count(*) from link_claims where link_claims.link_id = links.id and ${holding})
)`

export async function countDownloads(db: Queryable, link: LinkId): Promise<number> {
  const row = await db
    .selectFrom('links')
    .select(downloadsOfLink.as('count'))
    .where('id', '=', link)
    .executeTakeFirst()
  return row?.count ?? 0
}

/** The visitor's last claim that began after `since`. */
export function claimOf(
  db: Queryable,
  link: LinkId,
  visitor: LinkVisitor,
  since: number,
): Promise<LinkClaim | undefined> {
  return db
    .selectFrom('link_claims')
    .select(['id', 'running', 'sent', 'bytes'])
    .where('link_id', '=', link)
    .where('visitor', '=', visitor)
    .where('created_at', '>', since)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/**
 * Whether there is a place for the visitor, or their last claim after `since` has one. One statement, since the claim may
 * give its place back meanwhile.
 */
export async function hasPlaceFor(
  db: Database,
  link: LinkId,
  {
    limit,
    visitor,
    since,
  }: { readonly limit: number; readonly visitor: LinkVisitor; readonly since: number },
): Promise<boolean> {
  const own = sql<number>`coalesce((
    select case when ${holding} then 1 else 0 end from link_claims
    where link_id = links.id and visitor = ${visitor} and created_at > ${since}
    order by id desc limit 1
  ), 0)`
  const row = await db
    .selectFrom('links')
    .select([downloadsOfLink.as('count'), own.as('own')])
    .where('id', '=', link)
    .executeTakeFirst()
  return row !== undefined && (row.count < limit || row.own === 1)
}

/** Whose claim a program began last after `since`; rather one of which something is missing. */
export async function visitorOf(
  db: Queryable,
  link: LinkId,
  program: LinkProgram,
  since: number,
): Promise<LinkVisitor | undefined> {
  const row = await claimsOfProgram(db, link, program, since)
    .orderBy(sql`case when running > 0 or sent < ${sql.lit(WHOLE)} then 0 else 1 end`)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.visitor
}

/** Whose claim a program began last after `since` of those that were broken off and have their place. */
export async function visitorBrokenOff(
  db: Queryable,
  link: LinkId,
  program: LinkProgram,
  since: number,
): Promise<LinkVisitor | undefined> {
  const row = await claimsOfProgram(db, link, program, since)
    .where('sent', '<', WHOLE)
    .where('running', '=', 0)
    .where(holding)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.visitor
}

function claimsOfProgram(db: Queryable, link: LinkId, program: LinkProgram, since: number) {
  return db
    .selectFrom('link_claims')
    .select('visitor')
    .where('link_id', '=', link)
    .where('program', '=', program)
    .where('created_at', '>', since)
}

/** The link, whose claims wait until the transaction ends. */
export function lockLink(
  trx: Trx,
  link: LinkId,
): Promise<{ readonly max_downloads: number | null; readonly revoked_at: number | null } | undefined> {
  return trx
    .selectFrom('links')
    .select(['max_downloads', 'revoked_at'])
    .where('id', '=', link)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
}

export async function insertClaim(
  trx: Trx,
  link: LinkId,
  { visitor, program }: LinkDownloader,
  claim: { readonly sent: number; readonly created_at: number },
): Promise<LinkClaimId> {
  const { id } = await trx
    .insertInto('link_claims')
    .values({ ...claim, visitor, program, link_id: link, running: 1 })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Counts a transfer that begins. `sent`: what it promises. */
export async function beginInClaim(trx: Trx, id: LinkClaimId, sent: number): Promise<void> {
  await trx
    .updateTable('link_claims')
    .set({ sent: sql`sent + ${sent}`, running: sql`running + 1` })
    .where('id', '=', id)
    .execute()
}

/** Counts a transfer that begins again what was broken off, which counts as sent from then on. */
export async function beginAgainInClaim(trx: Trx, id: LinkClaimId, sent: number): Promise<void> {
  await trx
    .updateTable('link_claims')
    .set({ sent: WHOLE + sent, running: 1, bytes: 0 })
    .where('id', '=', id)
    .execute()
}

/**
 * Counts a transfer that has ended: `back` of what it promised was not sent. Returns the bytes of the whole claim when it
 * has its place for good and nobody was told, and marks it as told; else null.
 */
export async function endInClaim(
  trx: Trx,
  id: LinkClaimId,
  { back, bytes }: { readonly back: number; readonly bytes: number },
): Promise<number | null> {
  const claim = await trx
    .updateTable('link_claims')
    .set({ sent: sql`sent - ${back}`, running: sql`running - 1`, bytes: sql`bytes + ${bytes}` })
    .where('id', '=', id)
    .returning(['sent', 'running', 'bytes', 'told'])
    .executeTakeFirst()
  if (claim === undefined || claim.told === 1 || claim.running > 0 || !isHolding(claim)) return null
  await trx.updateTable('link_claims').set({ told: 1 }).where('id', '=', id).execute()
  return claim.bytes
}

/** Whether all downloads that the link allows were made: no claim gives its place back any more. */
export async function isUsedUp(trx: Trx, link: LinkId): Promise<boolean> {
  const told = sql<number>`(select count(*) from link_claims where link_id = links.id and told = 1)`
  const row = await trx
    .selectFrom('links')
    .select(['max_downloads', sql<number>`downloads + ${told}`.as('made')])
    .where('id', '=', link)
    .executeTakeFirst()
  return row !== undefined && row.max_downloads !== null && row.made >= row.max_downloads
}

/** Deletes claims of the link that gave their place back, except for the last `kept`. */
export async function dropGivenBack(trx: Trx, link: LinkId, kept: number): Promise<void> {
  const some = trx
    .selectFrom('link_claims')
    .select('id')
    .where('link_id', '=', link)
    .where(sql<SqlBool>`not ${holding}`)
    .orderBy('id', 'desc')
    .limit(100)
    .offset(kept)
  await trx.deleteFrom('link_claims').where('id', 'in', some).execute()
}

/** Up to `most` links that have claims of `before` or earlier. */
export function linksWithOldClaims(db: Database, before: number, most: number): Promise<OwnedLink[]> {
  return db
    .selectFrom('link_claims')
    .innerJoin('links', 'links.id', 'link_claims.link_id')
    .select(['links.id', 'links.account_id as account'])
    .distinct()
    .where('link_claims.created_at', '<=', before)
    .limit(most)
    .execute()
}

/**
 * Turns up to `most` claims of `before` or earlier into the number of those that had a place; returns those of them of
 * which nobody was told, because a node was killed meanwhile.
 */
export async function countOldClaims(
  trx: Trx,
  link: LinkId,
  before: number,
  most: number,
): Promise<{ readonly times: number; readonly bytes: number }> {
  const some = trx
    .selectFrom('link_claims')
    .select('id')
    .where('link_id', '=', link)
    .where('created_at', '<=', before)
    .limit(most)
  const gone = await trx
    .deleteFrom('link_claims')
    .where('id', 'in', some)
    .returning(['sent', 'running', 'bytes', 'told'])
    .execute()
  const held = gone.filter(isHolding)
  await addDownloads(trx, link, held.length)
  const untold = held.filter(({ told }) => told === 0)
  return { times: untold.length, bytes: untold.reduce((sum, { bytes }) => sum + bytes, 0) }
}

export async function addDownloads(trx: Trx, link: LinkId, count: number): Promise<void> {
  if (count === 0) return
  await trx
    .updateTable('links')
    .set({ downloads: sql`downloads + ${count}` })
    .where('id', '=', link)
    .execute()
}
