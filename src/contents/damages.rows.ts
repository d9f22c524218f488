import { type SqlBool, sql } from 'kysely'
import { isDamaged } from '../core/damage.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import type { Damage, Row } from '../database/schema.ts'
import type { AccountId, BlobId, BlobKey, DamageId, FileId, Slug } from '../domain/ids.ts'
import {
  type MailRecipient,
  mailRecipients,
  notMailedSince,
  updateRecipient,
} from '../mail/mail-addresses.rows.ts'

export interface NewlyMarked {
  readonly blob_id: BlobId
  readonly key: BlobKey
  readonly found_at: number
}

/** The earliest mark first. */
export function notNoted(db: Database, limit: number): Promise<NewlyMarked[]> {
  return db.readPool.rows(
    db
      .selectFrom('blobs')
      .select(['blobs.id as blob_id', 'blobs.key'])
      .select((row) => row.ref('blobs.damaged_at').$notNull().as('found_at'))
      .where(isDamaged(db))
      .where('blobs.damaged_at', 'is not', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('damages')
              .select('damages.id')
              .whereRef('damages.key', '=', 'blobs.key')
              .where('damages.ended_at', 'is', null),
          ),
        ),
      )
      .orderBy('blobs.damaged_at')
      .orderBy('blobs.id')
      .limit(limit),
  )
}

/** A copy damaged again keeps its number, so that nobody gets a second mail about it. */
export async function noteDamages(db: Database, found: readonly NewlyMarked[]): Promise<void> {
  if (found.length === 0) return
  await db
    .insertInto('damages')
    .values(found)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ ended_at: null, outcome: null }))
    .execute()
}

export interface EndedDamage {
  readonly id: DamageId
  /** 1 while the content exists: its bytes are sound again. */
  readonly remains: number
}

export function endedDamages(db: Database, limit: number): Promise<EndedDamage[]> {
  return db.readPool.rows(
    db
      .selectFrom('damages')
      .leftJoin('blobs', 'blobs.id', 'damages.blob_id')
      .select('damages.id')
      .select((row) =>
        row.case().when('blobs.id', 'is', null).then(sql.lit(0)).else(sql.lit(1)).end().as('remains'),
      )
      .where('damages.ended_at', 'is', null)
      .where(
        sql<SqlBool>`(blobs.id is null or blobs.key <> damages.key or blobs.damaged_key is null or blobs.damaged_key <> blobs.key)`,
      )
      .orderBy('damages.id')
      .limit(limit),
  )
}

export async function endDamages(
  db: Database,
  ids: readonly DamageId[],
  outcome: 'repaired' | 'deleted',
  now: number,
): Promise<void> {
  if (ids.length === 0) return
  await db.updateTable('damages').set({ ended_at: now, outcome }).where('id', 'in', ids).execute()
}

export async function forgetDamages(db: Database, before: number): Promise<void> {
  await db
    .deleteFrom('damages')
    .where('outcome', 'in', ['repaired', 'deleted'])
    .where('ended_at', '<', before)
    .execute()
}

export interface DamagedFile {
  readonly id: FileId
  readonly slug: Slug
  readonly name: string
  readonly size: number
  readonly account_id: AccountId
  readonly username: string
  readonly key: BlobKey
  readonly damage: Damage | null
  readonly found_at: number
  readonly repaired_at: number | null
}

/** `damaged`: files, also in bins, with a damaged content. `repaired`: files whose content is sound again. */
export interface DamagedFilesQuery {
  readonly state: 'damaged' | 'repaired'
  readonly offset: number
  readonly limit: number
}

export function listDamagedFiles(
  db: Database,
  query: DamagedFilesQuery,
): Promise<{ readonly files: readonly DamagedFile[]; readonly total: number }> {
  return query.state === 'damaged' ? damagedFiles(db, query) : repairedFiles(db, query)
}

const FILE = ['files.id', 'files.slug', 'files.name', 'files.size', 'files.account_id'] as const

async function damagedFiles(db: Database, { limit, offset }: DamagedFilesQuery) {
  const of = db.selectFrom('blobs').innerJoin('files', 'files.blob_id', 'blobs.id').where(isDamaged(db))
  const page = of
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select([...FILE, 'accounts.username', 'blobs.key', 'blobs.damage'])
    .select((row) => [
      row.ref('blobs.damaged_at').$notNull().as('found_at'),
      sql<number | null>`null`.as('repaired_at'),
    ])
    .orderBy('blobs.damaged_at', 'desc')
    .orderBy('files.id', 'desc')
    .limit(limit)
    .offset(offset)
  const [files, [count]] = await Promise.all([
    db.readPool.rows(page),
    db.readPool.rows(of.select(({ fn }) => fn.countAll<number>().as('total'))),
  ])
  return { files, total: count?.total ?? 0 }
}

async function repairedFiles(db: Database, { limit, offset }: DamagedFilesQuery) {
  const of = db
    .selectFrom('damages')
    .innerJoin('files', 'files.blob_id', 'damages.blob_id')
    .where('damages.outcome', '=', 'repaired')
  const page = of
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select([...FILE, 'accounts.username', 'damages.key', 'damages.found_at'])
    .select([sql<Damage | null>`null`.as('damage'), 'damages.ended_at as repaired_at'])
    .orderBy('damages.ended_at', 'desc')
    .orderBy('files.id', 'desc')
    .limit(limit)
    .offset(offset)
  const [files, [count]] = await Promise.all([
    db.readPool.rows(page),
    db.readPool.rows(of.select(({ fn }) => fn.countAll<number>().as('total'))),
  ])
  return { files, total: count?.total ?? 0 }
}

export async function countRepaired(db: Database): Promise<number> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('damages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('outcome', '=', 'repaired'),
  )
  return row?.count ?? 0
}

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
  const newest = damagesWithFiles(db)
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

function damagesWithFiles(db: Database) {
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
  const all = damagesWithFiles(db).where('damages.id', '>', after).where('damages.id', '<=', to)
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
