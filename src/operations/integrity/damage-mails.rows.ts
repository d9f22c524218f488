/** Who is to be told of damaged contents, and of which. */
import type { Database, Trx } from '../../database/database.ts'
import type { AccountId, DamageId } from '../../domain/ids.ts'
import type { Language } from '../../domain/language.ts'
import type { MailAddress } from '../../domain/mail-address.ts'

/** The latest copy that is noted as damaged and is damaged still; null where there is none. */
export async function latestDamage(db: Database): Promise<DamageId | null> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('damages')
      .select(({ fn }) => fn.max('id').as('latest'))
      .where('ended_at', 'is', null),
  )
  return row?.latest ?? null
}

export interface Recipient {
  readonly account_id: AccountId
  readonly username: string
  readonly address: MailAddress
  readonly language: Language
  /** The last damage that they were told of. */
  readonly damage_told: DamageId
}

/** Accounts after `after`, by id, that want to be told of something and were told of nothing since `before`. */
export interface Asked {
  readonly after: AccountId
  readonly before: number
  readonly limit: number
}

/** Administrators who were not told of all damages up to that one. */
export function administratorsToTell(db: Database, latest: DamageId, asked: Asked): Promise<Recipient[]> {
  return db.readPool.rows(
    recipients(db, asked).where('accounts.is_admin', '=', 1).where('mail_addresses.damage_told', '<', latest),
  )
}

/** Owners of files with a damaged content that they were not told of. */
export function ownersToTell(db: Database, asked: Asked): Promise<Recipient[]> {
  const newest = damagedFiles(db)
    .select((row) => ['files.account_id as owner', row.fn.max('damages.id').as('newest')])
    .groupBy('files.account_id')
  return db.readPool.rows(
    recipients(db, asked)
      .innerJoin(newest.as('owned'), 'owned.owner', 'mail_addresses.account_id')
      .whereRef('mail_addresses.damage_told', '<', 'owned.newest'),
  )
}

function recipients(db: Database, { after, before, limit }: Asked) {
  return db
    .selectFrom('mail_addresses')
    .innerJoin('accounts', 'accounts.id', 'mail_addresses.account_id')
    .select(['mail_addresses.account_id', 'accounts.username'])
    .select(['mail_addresses.language', 'mail_addresses.damage_told'])
    .select((row) => row.ref('mail_addresses.address').$notNull().as('address'))
    .where('mail_addresses.account_id', '>', after)
    .where('mail_addresses.address', 'is not', null)
    .where('mail_addresses.warnings', '=', 1)
    .where((row) =>
      row.or([
        row('mail_addresses.damage_told_at', 'is', null),
        row('mail_addresses.damage_told_at', '<=', before),
      ]),
    )
    .where('accounts.disabled_at', 'is', null)
    .orderBy('mail_addresses.account_id')
    .limit(limit)
}

/** Files, those in bins too, with a content that is damaged. */
function damagedFiles(db: Database) {
  return db
    .selectFrom('damages')
    .innerJoin('files', 'files.blob_id', 'damages.blob_id')
    .where('damages.ended_at', 'is', null)
    .where((row) =>
      row.or([row('files.removed_at', 'is', null), row('files.removal', 'in', ['binned', 'folder binned'])]),
    )
}

/** Damages after the first and up to the second. */
export type Span = readonly [after: DamageId, to: DamageId]

export interface NamedFile {
  readonly name: string
  readonly username: string
  readonly account_id: AccountId
}

/** Files that these damages are about, of one account or of all: some of them, and how many there are. */
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

/** False when another node has told them meanwhile, or they want no mails any more. */
export async function noteTold(trx: Trx, seen: Recipient, told: DamageId, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('mail_addresses')
    .set({ damage_told: told, damage_told_at: now })
    .where('account_id', '=', seen.account_id)
    .where('damage_told', '=', seen.damage_told)
    .where('address', '=', seen.address)
    .where('warnings', '=', 1)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
