import { type Insertable, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnedLink } from '../../core/link-events.rows.ts'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import type { Tables } from '../../database/schema.ts'
import type { LinkDownloader } from '../../domain/access.ts'
import type { LinkClaimId, LinkId, LinkProgram, LinkVisitor } from '../../domain/ids.ts'

/** `sent` is in millionths of a file or a zip; of several, their sum. */
export const WHOLE = 1_000_000

interface ClaimProgress {
  readonly sent: number
  readonly running: number
}

interface ClaimPlace extends ClaimProgress {
  readonly reserved_until: number | null
}

export interface LinkClaim extends ClaimPlace {
  readonly id: LinkClaimId
  /** Of the transfers that have ended. */
  readonly bytes: number
  readonly used_at: number
}

/** Whether the claim is a download: bytes are being sent, or half of something was. */
export function isDownload({ running, sent }: ClaimProgress): boolean {
  return running > 0 || sent * 2 >= WHOLE
}

/** Whether the claim has a place: it is a download, or was reserved a moment ago. */
export function isHolding(claim: ClaimPlace, now: number): boolean {
  return isDownload(claim) || (claim.reserved_until ?? 0) > now
}

const downloading: RawBuilder<SqlBool> = sql`(running > 0 or sent * 2 >= ${sql.lit(WHOLE)})`

function holding(now: number): RawBuilder<SqlBool> {
  return sql`(${downloading} or coalesce(reserved_until, 0) > ${now})`
}

/** Downloads of a link in a list. */
export const downloadsOfLink: RawBuilder<number> = sql`(
  links.downloads + (select count(*) from link_claims where link_claims.link_id = links.id and ${downloading})
)`

function placesOfLink(now: number): RawBuilder<number> {
  return sql`(
    links.downloads + (select count(*) from link_claims where link_claims.link_id = links.id and ${holding(now)})
  )`
}

/** Places that are taken: downloads, and what is reserved. */
export async function countPlaces(db: Queryable, link: LinkId, now: number): Promise<number> {
  const row = await db
    .selectFrom('links')
    .select(placesOfLink(now).as('count'))
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
    .select(['id', 'running', 'sent', 'bytes', 'reserved_until', 'used_at'])
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
    now,
  }: {
    readonly limit: number
    readonly visitor: LinkVisitor
    readonly since: number
    readonly now: number
  },
): Promise<boolean> {
  const own = sql<number>`coalesce((
    select case when ${holding(now)} then 1 else 0 end from link_claims
    where link_id = links.id and visitor = ${visitor} and created_at > ${since}
    order by id desc limit 1
  ), 0)`
  const row = await db
    .selectFrom('links')
    .select([placesOfLink(now).as('count'), own.as('own')])
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
    .where(downloading)
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
  claim: Pick<
    Insertable<Tables['link_claims']>,
    'sent' | 'running' | 'created_at' | 'reserved_until' | 'used_at'
  >,
): Promise<LinkClaimId> {
  const { id } = await trx
    .insertInto('link_claims')
    .values({ ...claim, visitor, program, link_id: link })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Counts a transfer that begins. `sent`: what it promises. */
export async function beginInClaim(trx: Trx, id: LinkClaimId, sent: number, now: number): Promise<void> {
  await trx
    .updateTable('link_claims')
    .set({ sent: sql`sent + ${sent}`, running: sql`running + 1`, reserved_until: null, used_at: now })
    .where('id', '=', id)
    .execute()
}

/** Counts a transfer that begins again what was broken off, which counts as sent from then on. */
export async function beginAgainInClaim(trx: Trx, id: LinkClaimId, sent: number, now: number): Promise<void> {
  await trx
    .updateTable('link_claims')
    .set({ sent: WHOLE + sent, running: 1, bytes: 0, reserved_until: null, used_at: now })
    .where('id', '=', id)
    .execute()
}

/** Gives the claim a place until then, or until its bytes are asked for. */
export async function reserveInClaim(trx: Trx, id: LinkClaimId, until: number): Promise<void> {
  await trx.updateTable('link_claims').set({ reserved_until: until }).where('id', '=', id).execute()
}

/**
 * Counts a transfer that has ended: `back` of what it promised was not sent. Returns the bytes of the whole claim when it
 * has its place for good and nobody was told, and marks it as told; else null.
 */
export async function endInClaim(
  trx: Trx,
  id: LinkClaimId,
  { back, bytes, now }: { readonly back: number; readonly bytes: number; readonly now: number },
): Promise<number | null> {
  const claim = await trx
    .updateTable('link_claims')
    .set({ sent: sql`sent - ${back}`, running: sql`running - 1`, bytes: sql`bytes + ${bytes}`, used_at: now })
    .where('id', '=', id)
    .returning(['sent', 'running', 'bytes', 'told'])
    .executeTakeFirst()
  if (claim === undefined || claim.told === 1 || claim.running > 0 || !isDownload(claim)) return null
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

/** Deletes claims of the link that gave their place back, except for the last `kept`, and keeps the sum of what they sent. */
export async function dropGivenBack(trx: Trx, link: LinkId, kept: number, now: number): Promise<void> {
  const some = trx
    .selectFrom('link_claims')
    .select('id')
    .where('link_id', '=', link)
    .where(sql<SqlBool>`not ${holding(now)}`)
    .orderBy('id', 'desc')
    .limit(100)
    .offset(kept)
  const gone = await trx
    .deleteFrom('link_claims')
    .where('id', 'in', some)
    .returning(['sent', 'bytes'])
    .execute()
  await addGivenBack(trx, link, gone)
}

async function addGivenBack(
  trx: Trx,
  link: LinkId,
  claims: readonly { readonly sent: number; readonly bytes: number }[],
): Promise<void> {
  const sent = claims.reduce((sum, claim) => sum + claim.sent, 0)
  const bytes = claims.reduce((sum, claim) => sum + claim.bytes, 0)
  if (sent === 0 && bytes === 0) return
  await trx
    .updateTable('links')
    .set({ given_back: sql`given_back + ${sent}`, given_back_bytes: sql`given_back_bytes + ${bytes}` })
    .where('id', '=', link)
    .execute()
}

/**
 * Spends a place once the claims that gave theirs back have sent a whole between them, and drops them. Returns the bytes of
 * that download, or null. At most one place is free by it, that of the claim which has just ended below half.
 */
export async function spendGivenBack(trx: Trx, link: LinkId, now: number): Promise<number | null> {
  const claims = () => sql<SqlBool>`link_id = ${link} and sent > 0 and not ${holding(now)}`
  const sum = (column: 'sent' | 'bytes') =>
    sql<number>`(select coalesce(sum(${sql.ref(column)}), 0) from link_claims where ${claims()})`
  const row = await trx
    .selectFrom('links')
    .select(['given_back', 'given_back_bytes', sum('sent').as('sent'), sum('bytes').as('bytes')])
    .where('id', '=', link)
    .executeTakeFirst()
  if (row === undefined) return null
  const sent = row.given_back + Number(row.sent)
  if (sent < WHOLE) return null
  await trx.deleteFrom('link_claims').where(claims()).execute()
  await trx
    .updateTable('links')
    .set({ downloads: sql`downloads + 1`, given_back: sent - WHOLE, given_back_bytes: 0 })
    .where('id', '=', link)
    .execute()
  return row.given_back_bytes + Number(row.bytes)
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
  const held = gone.filter(isDownload)
  await addGivenBack(
    trx,
    link,
    gone.filter((claim) => !isDownload(claim)),
  )
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
