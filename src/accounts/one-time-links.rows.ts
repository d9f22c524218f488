import type { Database, Queryable, Trx } from '../database/database.ts'
import type { LinkPurpose, Row } from '../database/schema.ts'
import type { AccountId, Sha256 } from '../domain/ids.ts'

export type OneTimeLinkRow = Row<'one_time_links'>

export async function insertOneTimeLink(db: Queryable, link: OneTimeLinkRow): Promise<void> {
  await db.insertInto('one_time_links').values(link).execute()
}

export function findOneTimeLink(
  db: Database,
  hash: Sha256,
  purpose: LinkPurpose,
  now: number,
): Promise<OneTimeLinkRow | undefined> {
  return db
    .selectFrom('one_time_links')
    .selectAll()
    .where('token_hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Consumes the link; undefined when it has expired or was used before. */
export function takeOneTimeLink(
  trx: Trx,
  hash: Sha256,
  purpose: LinkPurpose,
  now: number,
): Promise<OneTimeLinkRow | undefined> {
  return trx
    .deleteFrom('one_time_links')
    .where('token_hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

export async function dropOneTimeLinks(
  trx: Trx,
  purpose: LinkPurpose,
  account: AccountId | 'all',
): Promise<void> {
  const links = trx.deleteFrom('one_time_links').where('purpose', '=', purpose)
  await (account === 'all' ? links : links.where('account_id', '=', account)).execute()
}

export async function dropExpiredOneTimeLinks(db: Queryable, now: number): Promise<void> {
  await db.deleteFrom('one_time_links').where('expires_at', '<=', now).execute()
}
