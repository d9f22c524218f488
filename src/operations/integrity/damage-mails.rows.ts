import type { Database, Trx } from '../../database/database.ts'
import type { Row } from '../../database/schema.ts'
import type { AccountId, DamageId } from '../../domain/ids.ts'
import {
  type MailRecipient,
  mailRecipients,
  notMailedSince,
  updateRecipient,
} from '../../mail/recipients.rows.ts'

export async function latestDamage(db: Database): Promise<DamageId | null> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('damages')
      .select(({ fn }) => fn.max('id').as('latest'))
      .where('ended_at', 'is', null),
  )
  return row?.latest ?? null
}

/** `damage_told`: the last damage that their mails have named. */
export type Recipient = MailRecipient & Row<'mail_addresses', 'damage_told'>

export interface RecipientQuery {
  readonly after: AccountId
  readonly before: number
  readonly limit: number
}

export function administratorsToNotify(
  db: Database,
  latest: DamageId,
  asked: RecipientQuery,
): Promise<Recipient[]> {
  return db.readPool.rows(
    recipients(db, asked).where('accounts.is_admin', '=', 1).where('mail_addresses.damage_told', '<', latest),
  )
}

export function ownersToNotify(db: Database, asked: RecipientQuery): Promise<Recipient[]> {
  const newest = damagedFiles(db)
    .select((row) => ['files.account_id as owner', row.fn.max('damages.id').as('newest')])
    .groupBy('files.account_id')
  return db.readPool.rows(
    recipients(db, asked)
      .innerJoin(newest.as('owned'), 'owned.owner', 'mail_addresses.account_id')
      .whereRef('mail_addresses.damage_told', '<', 'owned.newest'),
  )
}

function recipients(db: Database, { after, before, limit }: RecipientQuery) {
  return mailRecipients(db, after, limit)
    .select('mail_addresses.damage_told')
    .where(notMailedSince('damage_told_at', before))
}

function damagedFiles(db: Database) {
  return db
    .selectFrom('damages')
    .innerJoin('files', 'files.blob_id', 'damages.blob_id')
    .where('damages.ended_at', 'is', null)
    .where((row) =>
      row.or([row('files.removed_at', 'is', null), row('files.removal', 'in', ['binned', 'folder binned'])]),
    )
}

export type Span = readonly [after: DamageId, to: DamageId]

export interface NamedFile {
  readonly name: string
  readonly username: string
  readonly account_id: AccountId
}

export async function filesOfDamages(
  db: Database,
  [after, to]: Span,
  account: AccountId | null,
  limit: number,
): Promise<{ readonly files: readonly NamedFile[]; readonly total: number }> {
  const all = damagedFiles(db).where('damages.id', '>', after).where('damages.id', '<=', to)
  const of = account === null ? all : all.where('files.account_id', '=', account)
  const some = of
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select(['files.name', 'files.account_id', 'accounts.username'])
    .orderBy('damages.id')
    .orderBy('files.id')
    .limit(limit)
  const [files, [count]] = await Promise.all([
    db.readPool.rows(some),
    db.readPool.rows(of.select(({ fn }) => fn.countAll<number>().as('total'))),
  ])
  return { files, total: count?.total ?? 0 }
}

export async function countDamages(db: Database, [after, to]: Span): Promise<number> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('damages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('ended_at', 'is', null)
      .where('id', '>', after)
      .where('id', '<=', to),
  )
  return row?.count ?? 0
}

/** False when another node has sent a mail meanwhile, or the account has opted out. */
export async function recordNotified(
  trx: Trx,
  seen: Recipient,
  told: DamageId,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await updateRecipient(trx, seen)
    .set({ damage_told: told, damage_told_at: now })
    .where('damage_told', '=', seen.damage_told)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
