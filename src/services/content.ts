import { type BlobBody, type BlobStore, isLost } from '../blobs/blob-store.ts'
import { type FileDetailRow, findFile } from '../database/files.ts'
import type { Db } from '../database/schema.ts'
import type { Uuid } from '../domain/ids.ts'
import { fileNotFound } from './access.ts'
import { readingFailure } from './damage.ts'

/** The bytes of files, for those whom the access rule has let in. */
export interface Content {
  /**
   * Bytes `start` to `end` (exclusive). Throws Refusal FILE_NOT_FOUND when the file went meanwhile, and FileDamaged when
   * the store has not all of its bytes any more.
   */
  read(file: FileDetailRow, start: number, end: number): Promise<BlobBody>
  /**
   * An address where the store gives the bytes out by itself, for a minute; null where it does not, or is not meant
   * to. Whoever has it needs no other permission.
   */
  link(
    file: FileDetailRow,
    headers: { readonly type: string; readonly disposition: string },
  ): Promise<string | null>
}

/** Seconds. Short, so that a file that is taken down is gone. */
const LINK_LIFETIME = 60

export function createContent(db: Db, blobs: BlobStore, redirects: boolean): Content {
  return {
    async link(file, headers) {
      return redirects ? blobs.link(file.blob_key, { seconds: LINK_LIFETIME, ...headers }) : null
    },

    async read(file, start, end) {
      try {
        return await blobs.read(file.blob_key, start, end, file.size)
      } catch (error) {
        if (!isLost(error)) throw error
      }
      // The same content was uploaded again and its newer copy has taken this one's place: ask for the row anew.
      const present = await findFile(db, { kind: 'uuid', uuid: file.uuid satisfies Uuid })
      if (present === undefined) throw fileNotFound()
      try {
        return await blobs.read(present.blob_key, start, end, file.size)
      } catch (error) {
        throw readingFailure(file, error)
      }
    },
  }
}
