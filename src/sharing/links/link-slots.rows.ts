import { type Insertable, type SqlBool, sql } from 'kysely'
import type { OwnedLink } from '../../core/link-events.rows.ts'
import { downloading, holding, placesOfLink, WHOLE } from '../../core/link-places.rows.ts'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import type { Tables } from '../../database/schema.ts'
import type { LinkDownloader } from '../../domain/access.ts'
import type { LinkId, LinkProgram, LinkSlotId, LinkVisitor } from '../../domain/ids.ts'

interface ClaimProgress {
  readonly sent: number
  readonly running: number
}

interface ClaimPlace extends ClaimProgress {
  readonly reserved_until: number | null
}

export interface LinkSlot extends ClaimPlace {
  readonly id: LinkSlotId
  readonly bytes: number
  readonly used_at: number
}

/** Whether bytes are being sent, or half of something was. */
export function isDownload({ running, sent }: ClaimProgress): boolean {
  return running > 0 || sent * 2 >= WHOLE
}

/** Whether the claim holds a slot: a download, or a recent reservation. */
export function isHolding(claim: ClaimPlace, now: number): boolean {
  return isDownload(claim) || (claim.reserved_until ?? 0) > now
}

export function claimOf(
  db: Queryable,
  link: LinkId,
  visitor: LinkVisitor,
  since: number,
): Promise<LinkSlot | undefined> {
  return db
    .selectFrom('link_slots')
    .select(['id', 'running', 'sent', 'bytes', 'reserved_until', 'used_at'])
    .where('link_id', '=', link)
    .where('visitor', '=', visitor)
    .where('created_at', '>', since)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** One statement, since the visitor's claim may give its slot back meanwhile. */
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
    select case when ${holding(now)} then 1 else 0 end from link_slots
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

/** Visitor of the program's latest claim since `since`; incomplete claims first. */
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

/** Visitor of the program's latest interrupted claim since `since`. */
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
    .selectFrom('link_slots')
    .select('visitor')
    .where('link_id', '=', link)
    .where('program', '=', program)
    .where('created_at', '>', since)
}

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
    Insertable<Tables['link_slots']>,
    'sent' | 'running' | 'created_at' | 'reserved_until' | 'used_at'
  >,
): Promise<LinkSlotId> {
  const { id } = await trx
    .insertInto('link_slots')
    .values({ ...claim, visitor, program, link_id: link })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function beginInClaim(trx: Trx, id: LinkSlotId, sent: number, now: number): Promise<void> {
  await trx
    .updateTable('link_slots')
    .set({ sent: sql`sent + ${sent}`, running: sql`running + 1`, reserved_until: null, used_at: now })
    .where('id', '=', id)
    .execute()
}

/** Restarts an interrupted transfer, which counts as sent from then on. */
export async function beginAgainInClaim(trx: Trx, id: LinkSlotId, sent: number, now: number): Promise<void> {
  await trx
    .updateTable('link_slots')
    .set({ sent: WHOLE + sent, running: 1, bytes: 0, reserved_until: null, used_at: now })
    .where('id', '=', id)
    .execute()
}

export async function reserveInClaim(trx: Trx, id: LinkSlotId, until: number): Promise<void> {
  await trx.updateTable('link_slots').set({ reserved_until: until }).where('id', '=', id).execute()
}

/**
 * Ends a transfer: `back` of its promise was not sent. When the claim holds its slot for good and its
 * notification is pending, marks it as notified and returns its bytes; else null.
 */
export async function endInClaim(
  trx: Trx,
  id: LinkSlotId,
  { back, bytes, now }: { readonly back: number; readonly bytes: number; readonly now: number },
): Promise<number | null> {
  const claim = await trx
    .updateTable('link_slots')
    .set({ sent: sql`sent - ${back}`, running: sql`running - 1`, bytes: sql`bytes + ${bytes}`, used_at: now })
    .where('id', '=', id)
    .returning(['sent', 'running', 'bytes', 'told'])
    .executeTakeFirst()
  if (claim === undefined || claim.told === 1 || claim.running > 0 || !isDownload(claim)) return null
  await trx.updateTable('link_slots').set({ told: 1 }).where('id', '=', id).execute()
  return claim.bytes
}

export async function isUsedUp(trx: Trx, link: LinkId): Promise<boolean> {
  const told = sql<number>`(select count(*) from link_slots where link_id = links.id and told = 1)`
  const row = await trx
    .selectFrom('links')
    .select(['max_downloads', sql<number>`downloads + ${told}`.as('made')])
    .where('id', '=', link)
    .executeTakeFirst()
  return row !== undefined && row.max_downloads !== null && row.made >= row.max_downloads
}

/** Deletes claims without a slot, except for the last `kept`, and keeps the sum of what they sent. */
export async function dropGivenBack(trx: Trx, link: LinkId, kept: number, now: number): Promise<void> {
  const some = trx
    .selectFrom('link_slots')
    .select('id')
    .where('link_id', '=', link)
    .where(sql<SqlBool>`not ${holding(now)}`)
    .orderBy('id', 'desc')
    .limit(100)
    .offset(kept)
  const gone = await trx
    .deleteFrom('link_slots')
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
 * Spends a slot once the claims without one have sent a whole between them, drops them, and returns the bytes
 * of that download. At most one slot is free by it: that of the claim which has just ended below half.
 */
export async function spendGivenBack(trx: Trx, link: LinkId, now: number): Promise<number | null> {
  const claims = () => sql<SqlBool>`link_id = ${link} and sent > 0 and not ${holding(now)}`
  const sum = (column: 'sent' | 'bytes') =>
    sql<number>`(select coalesce(sum(${sql.ref(column)}), 0) from link_slots where ${claims()})`
  const row = await trx
    .selectFrom('links')
    .select(['given_back', 'given_back_bytes', sum('sent').as('sent'), sum('bytes').as('bytes')])
    .where('id', '=', link)
    .executeTakeFirst()
  if (row === undefined) return null
  const sent = row.given_back + Number(row.sent)
  if (sent < WHOLE) return null
  await trx.deleteFrom('link_slots').where(claims()).execute()
  await trx
    .updateTable('links')
    .set({ downloads: sql`downloads + 1`, given_back: sent - WHOLE, given_back_bytes: 0 })
    .where('id', '=', link)
    .execute()
  return row.given_back_bytes + Number(row.bytes)
}

export function linksWithOldClaims(db: Database, before: number, most: number): Promise<OwnedLink[]> {
  return db
    .selectFrom('link_slots')
    .innerJoin('links', 'links.id', 'link_slots.link_id')
    .select(['links.id', 'links.account_id as account'])
    .distinct()
    .where('link_slots.created_at', '<=', before)
    .limit(most)
    .execute()
}

/**
 * Turns up to `most` claims from `before` or earlier into the number of those that held a slot; returns those
 * whose notification is pending, because a node was killed.
 */
export async function countOldClaims(
  trx: Trx,
  link: LinkId,
  before: number,
  most: number,
): Promise<{ readonly times: number; readonly bytes: number }> {
  const some = trx
    .selectFrom('link_slots')
    .select('id')
    .where('link_id', '=', link)
    .where('created_at', '<=', before)
    .limit(most)
  const gone = await trx
    .deleteFrom('link_slots')
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
  const uncounted = held.filter(({ told }) => told === 0)
  return { times: uncounted.length, bytes: uncounted.reduce((sum, { bytes }) => sum + bytes, 0) }
}

export async function addDownloads(trx: Trx, link: LinkId, count: number): Promise<void> {
  if (count === 0) return
  await trx
    .updateTable('links')
    .set({ downloads: sql`downloads + ${count}` })
    .where('id', '=', link)
    .execute()
}
