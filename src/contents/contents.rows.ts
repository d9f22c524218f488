import { IS_UNMARKED, presentDamage } from '../core/damage.rows.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, wholeSum } from '../database/differences.ts'
import type { Damage, Row } from '../database/schema.ts'
import type { BlobId, BlobKey, Slug } from '../domain/ids.ts'

export interface BlobRow extends Row<'blobs', 'id' | 'key' | 'size' | 'sha256' | 'refs'> {
  readonly damage: Damage | null
  readonly files: number
}

export function contentsAfter(db: Database, id: BlobId | null, limit: number): Promise<BlobRow[]> {
  const contents = contentRows(db).orderBy('blobs.id').limit(limit)
  return (id === null ? contents : contents.where('blobs.id', '>', id)).execute()
}

export function findContent(db: Queryable, id: BlobId): Promise<BlobRow | undefined> {
  return contentRows(db).where('blobs.id', '=', id).executeTakeFirst()
}

function contentRows(db: Queryable) {
  return db
    .selectFrom('blobs')
    .select(['blobs.id', 'blobs.key', 'blobs.size', 'blobs.sha256', 'blobs.refs'])
    .select((row) => [
      presentDamage(row).as('damage'),
      row
        .selectFrom('files')
        .select((files) => files.fn.countAll<number>().as('files'))
        .whereRef('files.blob_id', '=', 'blobs.id')
        .$asScalar()
        .$notNull()
        .as('files'),
    ])
}

const OTHERS = 8

/** Up to eight from all over the database, neither empty nor marked. `key`: in the store, or in the mirror. */
export async function otherContents(
  db: Database,
  than: BlobId,
  where: 'key' | 'mirrored_key',
): Promise<{ readonly key: BlobKey; readonly size: number }[]> {
  const last = await db
    .selectFrom('blobs')
    .select(({ fn }) => fn.max<number | null>('id').as('id'))
    .executeTakeFirst()
  const found = new Map<BlobKey, number>()
  for (let step = 0; step < OTHERS; step++) {
    const other = await db
      .selectFrom('blobs')
      .select((row) => [row.ref(where).$castTo<BlobKey>().as('key'), 'size'])
      .where('id', '>=', Math.floor(((last?.id ?? 0) * step) / OTHERS) as BlobId)
      .where('id', '<>', than)
      .where('size', '>', 0)
      .where(where, 'is not', null)
      .$if(where === 'key', (query) => query.where(IS_UNMARKED))
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    if (other !== undefined) found.set(other.key, other.size)
  }
  return [...found].map(([key, size]) => ({ key, size }))
}

export function contentTotals(db: Database): Promise<{ count: number; bytes: number }> {
  return db
    .selectFrom('blobs')
    .select((row) => [row.fn.countAll<number>().as('count'), wholeSum(db, 'size').as('bytes')])
    .executeTakeFirstOrThrow()
}

export interface AffectedFile {
  readonly slug: Slug
  readonly name: string
  readonly owner: string
}

export function filesWith(db: Database, content: BlobId, limit: number): Promise<AffectedFile[]> {
  return db
    .selectFrom('files')
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select(['files.slug', 'files.name', 'accounts.username as owner'])
    .where('files.blob_id', '=', content)
    .orderBy('files.id')
    .limit(limit)
    .execute()
}

export async function knownKeys(db: Database, keys: readonly BlobKey[]): Promise<Set<BlobKey>> {
  if (keys.length === 0) return new Set()
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    .where('key', 'in', keys)
    .unionAll(db.selectFrom('blob_garbage').select('key').where('key', 'in', keys))
    .unionAll(db.selectFrom('reservations').select('key').where('key', 'in', keys))
    .unionAll(db.selectFrom('uploads').select('key').where('key', 'in', keys))
    .unionAll(
      db
        .selectFrom('thumbnails')
        .select((row) => row.ref('key').$notNull().as('key'))
        .where('key', 'in', keys),
    )
    .execute()
  return new Set(rows.map(({ key }) => key))
}

/** Locks the content against uploads and removals until the transaction ends. */
export async function lockedContent(trx: Trx, id: BlobId): Promise<BlobRow | undefined> {
  await trx.selectFrom('blobs').select('id').where('id', '=', id).modifyEnd(forUpdate(trx)).execute()
  return findContent(trx, id)
}

export async function setReferences(trx: Trx, id: BlobId, refs: number): Promise<void> {
  await trx.updateTable('blobs').set({ refs }).where('id', '=', id).execute()
}
