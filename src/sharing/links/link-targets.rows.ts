import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import type { FileId, FolderId, LinkId } from '../../domain/ids.ts'
import { type FileListRow, liveFiles } from '../../files/file-lists.rows.ts'
import { type FolderListRow, liveFolders } from '../../files/folders/folders.rows.ts'
import { isBelowDeleted } from '../../files/folders/trees.rows.ts'

export interface LinkTargetRow {
  readonly file_id: FileId | null
  readonly folder_id: FolderId | null
}

/** As chosen, in their order; any may be gone. */
export const linkTargets: (db: Database, link: LinkId) => Promise<LinkTargetRow[]> = prepared(
  (db, link: LinkId) =>
    db
      .selectFrom('link_targets')
      .select(['file_id', 'folder_id'])
      .where('link_id', '=', link)
      .orderBy('position'),
)

/** In their order. Files that an account has claimed are no longer the guest's to share. */
export function targetFiles(db: Database, link: LinkId): Promise<FileListRow[]> {
  return db.read.rows(
    liveFiles(db)
      .innerJoin('link_targets', 'link_targets.file_id', 'files.id')
      .innerJoin('links', 'links.id', 'link_targets.link_id')
      .whereRef('links.account_id', '=', 'files.account_id')
      .where('link_targets.link_id', '=', link)
      .where(isThere('files.folder_id'))
      .orderBy('link_targets.position'),
  )
}

export function targetFolders(db: Database, link: LinkId): Promise<FolderListRow[]> {
  return db.read.rows(
    liveFolders(db)
      .innerJoin('link_targets', 'link_targets.folder_id', 'folders.id')
      .where('link_targets.link_id', '=', link)
      .where(isThere('link_targets.folder_id'))
      .orderBy('link_targets.position'),
  )
}

/** `folder` must not be a column of `folders`: the condition would take it for its own. */
function isThere(folder: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`not ${isBelowDeleted(folder)}`
}
