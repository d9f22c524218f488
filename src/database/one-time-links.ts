import type { AccountId, Sha256 } from '../domain/ids.ts'
import type { Db, LinkPurpose } from './schema.ts'

export interface OneTimeLinkRow {
  readonly token_hash: Sha256
  readonly purpose: LinkPurpose
  readonly account_id: AccountId | null
  readonly created_at: number
  readonly expires_at: number
}

export async function insertLink(db: Db, link: OneTimeLinkRow): Promise<void> {
  await db.insertInto('one_time_links').values(link).execute()
}

/** The link of that purpose, if it is not over. */
export function findLink(
  db: Db,
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

/** Uses the link up; undefined when it is over or somebody was faster. */
export function takeLink(
  trx: Db,
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

/** Removes links of that purpose: those of one account, or everybody's. */
export async function dropLinks(trx: Db, purpose: LinkPurpose, account: AccountId | 'all'): Promise<void> {
  const links = trx.deleteFrom('one_time_links').where('purpose', '=', purpose)
  await (account === 'all' ? links : links.where('account_id', '=', account)).execute()
}

export async function dropLinksOver(db: Db, now: number): Promise<void> {
  await db.deleteFrom('one_time_links').where('expires_at', '<=', now).execute()
}
