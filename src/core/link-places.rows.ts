/** Places of links with a number of downloads, as `link_slots` holds them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Queryable } from '../database/database.ts'
import type { LinkId } from '../domain/ids.ts'

/** Unit of `sent`: millionths of a file or a zip, summed over several. */
export const WHOLE = 1_000_000

export const downloading: RawBuilder<SqlBool> = sql`(running > 0 or sent * 2 >= ${sql.lit(WHOLE)})`

export function holding(now: number): RawBuilder<SqlBool> {
  return sql`(${downloading} or coalesce(reserved_until, 0) > ${now})`
}

export const downloadsOfLink: RawBuilder<number> = sql`(
  links.downloads + (select count(*) from link_slots where link_slots.link_id = links.id and ${downloading})
)`

export function placesOfLink(now: number): RawBuilder<number> {
  return sql`(
    links.downloads + (select count(*) from link_slots where link_slots.link_id = links.id and ${holding(now)})
  )`
}

export async function countPlaces(db: Queryable, link: LinkId, now: number): Promise<number> {
  const row = await db
    .selectFrom('links')
    .select(placesOfLink(now).as('count'))
    .where('id', '=', link)
    .executeTakeFirst()
  return row?.count ?? 0
}
