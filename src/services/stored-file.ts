import { changeTotals } from '../database/accounts.ts'
import { adoptBlob } from '../database/blobs.ts'
import { noteChange } from '../database/changes.ts'
import { insertFile } from '../database/files.ts'
import { changeFiles } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { foldName } from '../domain/file-name.ts'
import type { AccountId, BlobKey, FileId, FolderId, Sha256, Slug, Uuid } from '../domain/ids.ts'
import { GARBAGE_GRACE } from './cleaning.ts'
import type { Digest } from './content-hash-messages.ts'
import { assertPlaceLives } from './places.ts'
import { assertTaken } from './refused-content.ts'
import type { ThumbnailIntake } from './thumbnails.ts'

/** A file whose bytes and row are safe. */
export interface StoredFile {
  readonly id: FileId
  readonly uuid: Uuid
  readonly slug: Slug
  readonly size: number
  readonly sha256: Sha256
}

export interface WholeFile {
  readonly account: AccountId
  readonly folder: FolderId
  /** Its blob, which is complete. */
  readonly key: BlobKey
  readonly digest: Digest
  readonly size: number
  readonly uuid: Uuid
  readonly slug: Slug
  readonly name: string
  readonly type: string
  /** What `ThumbnailIntake.mayHaveOne` says of it. */
  readonly mayHaveThumbnail: boolean | null
}

/**
 * Brings the row of a file in, and counts it. The account is locked; the room that was set aside ends in the same
 * transaction. Throws Refusal FOLDER_NOT_FOUND or CONTENT_REFUSED, or a unique violation when slug or UUID are taken.
 */
export async function insertStoredFile(
  trx: Db,
  thumbnails: ThumbnailIntake,
  file: WholeFile,
  now: number,
): Promise<FileId> {
  const { account, folder, key, digest, size, name, mayHaveThumbnail } = file
  await assertPlaceLives(trx, folder)
  await assertTaken(trx, digest.sha256)
  const blob_id = await adoptBlob(trx, { key, ...digest, size, created_at: now }, now + GARBAGE_GRACE)
  if (mayHaveThumbnail !== null) await thumbnails.note(trx, blob_id, mayHaveThumbnail)
  const id = await insertFile(trx, {
    uuid: file.uuid,
    slug: file.slug,
    account_id: account,
    folder_id: folder,
    blob_id,
    name,
    name_folded: foldName(name),
    size,
    type: file.type,
    created_at: now,
    last_used_at: now,
  })
  await changeTotals(trx, account, { storage: size, files: 1 })
  await changeFiles(trx, folder, 1, size)
  await noteChange(trx, account, { kind: 'file.added', file: id, place: folder })
  return id
}
