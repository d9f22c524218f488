/** Who is to be told of what came by their upload links, and of what. */
import type { Database, Trx } from '../../database/database.ts'
import type { AccountId, ContributionId } from '../../domain/ids.ts'
import type { Language } from '../../domain/language.ts'
import type { MailAddress } from '../../domain/mail-address.ts'
import { contributions } from '../../uploads/contributions.rows.ts'

export interface Recipient {
  readonly account_id: AccountId
  readonly username: string
  readonly address: MailAddress
  readonly language: Language
  readonly arrivals_told_at: number | null
}

interface Asked {
  /** Accounts after this one, by id. */
  readonly after: AccountId
  /** That were told of nothing since. */
  readonly toldBefore: number
  /** To whom something came in that time, of which they were not told. */
  readonly came: { readonly after: number; readonly before: number }
  readonly limit: number
}

/** Owners with something to tell. */
export function ownersToTell(db: Database, { after, toldBefore, came, limit }: Asked): Promise<Recipient[]> {
  const owners = contributions(db)
    .innerJoin('links', 'links.id', 'contributions.link_id')
    .select('links.account_id')
    .distinct()
    .where('contributions.told', '=', 0)
    .where('contributions.created_at', '>', came.after)
    .where('contributions.created_at', '<=', came.before)
    .where('files.id', 'is not', null)
  return db.readPool.rows(
    db
      .selectFrom('mail_addresses')
      .innerJoin('accounts', 'accounts.id', 'mail_addresses.account_id')
      .select(['mail_addresses.account_id', 'accounts.username'])
      .select(['mail_addresses.language', 'mail_addresses.arrivals_told_at'])
      .select((row) => row.ref('mail_addresses.address').$notNull().as('address'))
      .where('mail_addresses.account_id', '>', after)
      .where('mail_addresses.account_id', 'in', owners)
      .where('mail_addresses.address', 'is not', null)
      .where('mail_addresses.warnings', '=', 1)
      .where((row) =>
        row.or([
          row('mail_addresses.arrivals_told_at', 'is', null),
          row('mail_addresses.arrivals_told_at', '<=', toldBefore),
        ]),
      )
      .where('accounts.disabled_at', 'is', null)
      .orderBy('mail_addresses.account_id')
      .limit(limit),
  )
}

/** False when another node has told them meanwhile, or they want no mails any more. */
export async function noteTold(trx: Trx, seen: Recipient, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('mail_addresses')
    .set({ arrivals_told_at: now })
    .where('account_id', '=', seen.account_id)
    .where((row) =>
      row('arrivals_told_at', seen.arrivals_told_at === null ? 'is' : '=', seen.arrivals_told_at),
    )
    .where('address', '=', seen.address)
    .where('warnings', '=', 1)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export interface Arrival {
  readonly id: ContributionId
  readonly name: string
  readonly sender: string | null
  /** Name of the link, or of the folder that it fills. */
  readonly title: string
}

/** What came for the account since then and was not told, from the first on. */
export async function untoldArrivals(
  trx: Trx,
  account: AccountId,
  since: number,
  limit: number,
): Promise<Arrival[]> {
  const rows = await contributions(trx)
    .innerJoin('links', 'links.id', 'contributions.link_id')
    .innerJoin('link_uploads', 'link_uploads.link_id', 'links.id')
    .leftJoin('folders', 'folders.id', 'link_uploads.folder_id')
    .select(['contributions.id', 'contributions.sender', 'links.name as link', 'folders.name as folder'])
    .select((row) => row.ref('files.name').$notNull().as('name'))
    .where('links.account_id', '=', account)
    .where('contributions.told', '=', 0)
    .where('contributions.created_at', '>', since)
    .where('files.id', 'is not', null)
    .orderBy('contributions.id')
    .limit(limit)
    .execute()
  return rows.map(({ id, name, sender, link, folder }) => ({ id, name, sender, title: link ?? folder ?? '' }))
}

export async function markTold(trx: Trx, ids: readonly ContributionId[]): Promise<void> {
  await trx.updateTable('contributions').set({ told: 1 }).where('id', 'in', ids).execute()
}
