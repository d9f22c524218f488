import { type BlobChunks, type BlobStore, isLost, isUnreadable } from '../blobs/blob-store.ts'
import { FileDamaged } from '../core/failures.ts'
import type { SecondCopies } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import type { BlobId, Uuid } from '../domain/ids.ts'
import type { Charset } from '../domain/text-bytes.ts'
import { type FileDetailRow, fileNotFound, findFile } from '../files/files.ts'
import type { SourceChunks } from '../server/answers/answers.ts'
import { Charsets } from './charset.ts'
import type { Verification } from './verification.ts'

export interface SuspectQueue {
  /** Never throws. */
  add(content: BlobId): void
}

/** Seconds, as for our own addresses, so that a paused download goes on. */
const LINK_LIFETIME = 1800

/** Seconds, unless the content is large or there are many. */
const BACK_WITHIN = 60

export interface ContentParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly copies: SecondCopies
  /** Null disables verification. */
  readonly verification: Verification | null
  readonly suspects: SuspectQueue
  readonly redirects: boolean
}

export type Content = ReturnType<typeof createContent>

/** The caller has checked access. */
export function createContent(parts: ContentParts) {
  const { db, blobs, copies, verification, suspects, redirects } = parts
  const charsets = new Charsets(blobs)

  async function damaged(file: FileDetailRow, cause: unknown): Promise<FileDamaged> {
    const comesBack = await copies.repair(file.blob_id)
    return new FileDamaged(file, cause, comesBack ? BACK_WITHIN : undefined)
  }

  /** Queues a check where bytes are unreadable or missing. Never throws. */
  function failed(file: FileDetailRow, error: unknown): void {
    if (isUnreadable(error) || isLost(error)) suspects.add(file.blob_id)
  }

  async function lost(file: FileDetailRow, cause: unknown): Promise<FileDamaged> {
    const failure = await damaged(file, cause)
    // The repair has marked it.
    if (failure.retryAfter === undefined) suspects.add(file.blob_id)
    return failure
  }

  return {
    failed,
    charset: (file: FileDetailRow): Promise<Charset | null> => charsets.of(file),

    /** Throws FileDamaged for a content that is marked as damaged. */
    async assertSound(file: FileDetailRow): Promise<void> {
      if (file.damage === null) return
      throw await damaged(file, new Error(`a check found its content damaged: ${file.damage}`))
    },

    /** If enabled: on a mismatch FileDamaged is thrown in place of the last chunk, and `tell` is called. */
    verified(file: FileDetailRow, chunks: SourceChunks, tell: (error: unknown) => void): SourceChunks {
      if (verification === null) return chunks
      return verification.verified(chunks, file, () => {
        const cause = new Error(`the bytes of content ${file.blob_key} have another hash`)
        suspects.add(file.blob_id)
        tell(cause)
        return new FileDamaged(file, cause)
      })
    },

    /** For public files: valid for half an hour without further permission. Null where unsupported or disabled. */
    async link(
      file: FileDetailRow,
      headers: { readonly type: string; readonly disposition: string },
    ): Promise<string | null> {
      return redirects ? blobs.link(file.blob_key, { seconds: LINK_LIFETIME, ...headers }) : null
    },

    /** Throws Refusal FILE_NOT_FOUND when the file went meanwhile, and FileDamaged when the store has lost bytes. */
    async read(file: FileDetailRow, start: number, end: number): Promise<BlobChunks> {
      try {
        return await blobs.read(file.blob_key, start, end, file.size)
      } catch (error) {
        if (!isLost(error)) {
          failed(file, error)
          throw error
        }
      }
      // A newer copy of the content may have replaced this one: read the row again.
      const present = await findFile(db, { kind: 'uuid', uuid: file.uuid satisfies Uuid })
      if (present === undefined) throw fileNotFound()
      try {
        return await blobs.read(present.blob_key, start, end, file.size)
      } catch (error) {
        throw isLost(error) ? await lost(present, error) : error
      }
    },
  }
}
