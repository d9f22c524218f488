import type { Database } from '../database/database.ts'
import type { AllFilesSort } from '../domain/account.ts'
import type { AccountId, FileId, Sha256, Slug, Uuid } from '../domain/ids.ts'
import { goneAmong } from '../files/bin/bin.rows.ts'
import { countLiveFiles } from '../files/expiry.ts'

export type AnyFile = AnyFileRow

export function createAllFiles(db: Database) {
  return {
    async list(
      sort: AllFilesSort,
      page: number,
      perPage: number,
    ): Promise<{ readonly files: readonly AnyFile[]; readonly total: number }> {
      const files = await pageOfAllFiles(db, sort, (page - 1) * perPage, perPage)
      return { files, total: await countLiveFiles(db) }
    },
  }
}

export type AllFiles = ReturnType<typeof createAllFiles>

interface AnyFileRow {
  readonly id: FileId
  readonly uuid: Uuid
  readonly slug: Slug
  readonly name: string
  readonly type: string
  readonly size: number
  readonly created_at: number
  readonly views: number
  readonly downloads: number
  readonly sha256: Sha256
  readonly account_id: AccountId
  readonly username: string
}

/** Live files, newest or largest first. Omits files of deleted folders that are not marked yet. */
async function pageOfAllFiles(
  db: Database,
  sort: AllFilesSort,
  offset: number,
  limit: number,
): Promise<AnyFileRow[]> {
  const live = db.selectFrom('files').select('files.id').where('files.removed_at', 'is', null)
  // Ids grow with time.
  const sorted = sort === 'size' ? live.orderBy('files.size', 'desc') : live
  const page = sorted.orderBy('files.id', 'desc').limit(limit).offset(offset)
  const files = db
    .selectFrom('files')
    .innerJoin('blobs', 'blobs.id', 'files.blob_id')
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select([
      'files.id',
      'files.uuid',
      'files.slug',
      'files.name',
      'files.type',
      'files.size',
      'files.created_at',
      'files.views',
      'files.downloads',
      'files.folder_id',
      'files.account_id',
      'blobs.sha256',
      'accounts.username',
    ])
    .where('files.id', 'in', page)
  const rows = await db.readPool.rows(
    (sort === 'size' ? files.orderBy('files.size', 'desc') : files).orderBy('files.id', 'desc'),
  )
  const gone = await goneAmong(db, [...new Set(rows.map((row) => row.folder_id))])
  return rows.filter((row) => !gone.has(row.folder_id))
}
