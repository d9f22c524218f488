import { type BlobChunks, type BlobStore, isLost, isUnreadable, type OpenBlob } from '../blobs/blob-store.ts'
import { FileDamaged } from '../core/file-damaged.ts'
import type { SecondCopies } from '../core/store/second-copy.ts'
import type { Database } from '../database/database.ts'
import type { BlobId, BlobKey, Uuid } from '../domain/ids.ts'
import type { Charset } from '../domain/text-bytes.ts'
import { type FileDetailRow, findFile } from '../files/files.rows.ts'
import { fileNotFound } from '../files/own-file.ts'
import type { SourceChunks } from '../server/connections/body-chunks.ts'
import { Charsets } from './charsets.ts'
import type { Verification } from './verification.ts'

export interface SuspectQueue {
  /** Has a content looked at that may be damaged. Never throws. */
  add(content: BlobId): void
}

/** The bytes of files, for those whom the access rule has let in. */
export interface Content {
  /** Throws FileDamaged for a content that is marked as damaged. */
  assertSound(file: FileDetailRow): Promise<void>
  /**
   * The open blob, which the caller closes; bytes `start` to `end` (exclusive) from a store that has chunks alone. Throws
   * Refusal FILE_NOT_FOUND when the file went meanwhile, and FileDamaged when the store has not all of its bytes any more.
   */
  read(file: FileDetailRow, start: number, end: number): Promise<OpenBlob | BlobChunks>
  /** The charset of the file as a text; null where none can be told. */
  charset(file: FileDetailRow): Promise<Charset | null>
  /** Has the content looked at where the error says that its bytes cannot be read, or are not all there. Never throws. */
  failed(file: FileDetailRow, error: unknown): void
  /**
   * The chunks of the whole content, verified on their way where that is switched on: in place of the last one of other bytes
   * than were stored, FileDamaged is thrown and `tell` is called.
   */
  verified(file: FileDetailRow, chunks: SourceChunks, tell: (error: unknown) => void): SourceChunks
  /**
   * An address where the store gives the bytes out by itself, for half an hour; null where it does not, or is not meant
   * to. Whoever has it needs no other permission, so it is for what anybody may open.
   */
  link(
    file: FileDetailRow,
    headers: { readonly type: string; readonly disposition: string },
  ): Promise<string | null>
}

/** Seconds, as long as our own addresses are good: a download that was paused goes on. */
const LINK_LIFETIME = 1800

/** Seconds, within which a content that has a second copy is brought back, unless it is large or there are many. */
const BACK_WITHIN = 60

export interface ContentParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly copies: SecondCopies
  /** Null sends what the store has without a look. */
  readonly verification: Verification | null
  /** Told of contents that are not what was stored. */
  readonly suspects: SuspectQueue
  /** Whether the store gives bytes out by itself. */
  readonly redirects: boolean
}

export function createContent(parts: ContentParts): Content {
  const { db, blobs, copies, verification, suspects, redirects } = parts
  const charsets = new Charsets(blobs)

  async function opened(key: BlobKey, size: number, start: number, end: number) {
    const body = (await blobs.open(key, size)) ?? (await blobs.chunks(key, start, end, size))
    if (body === null) throw new Error('the store has neither open blobs nor chunks')
    return body
  }

  async function damaged(file: FileDetailRow, cause: unknown): Promise<FileDamaged> {
    const comesBack = await copies.repair(file.blob_id)
    return new FileDamaged(file, cause, comesBack ? BACK_WITHIN : undefined)
  }

  function failed(file: FileDetailRow, error: unknown): void {
    if (isUnreadable(error) || isLost(error)) suspects.add(file.blob_id)
  }

  async function lost(file: FileDetailRow, cause: unknown): Promise<FileDamaged> {
    const failure = await damaged(file, cause)
    // Whoever brings it back has marked it.
    if (failure.retryAfter === undefined) suspects.add(file.blob_id)
    return failure
  }

  return {
    failed,
    charset: (file) => charsets.of(file),

    async assertSound(file) {
      if (file.damage === null) return
      throw await damaged(file, new Error(`a check found its content damaged: ${file.damage}`))
    },

    verified(file, chunks, tell) {
      if (verification === null) return chunks
      return verification.verified(chunks, file, () => {
        const cause = new Error(`the bytes of content ${file.blob_key} have another hash`)
        suspects.add(file.blob_id)
        tell(cause)
        return new FileDamaged(file, cause)
      })
    },

    async link(file, headers) {
      return redirects ? blobs.link(file.blob_key, { seconds: LINK_LIFETIME, ...headers }) : null
    },

    async read(file, start, end) {
      try {
        return await opened(file.blob_key, file.size, start, end)
      } catch (error) {
        if (!isLost(error)) {
          failed(file, error)
          throw error
        }
      }
      // The same content was uploaded again and its newer copy has taken this one's place: ask for the row anew.
      const present = await findFile(db, { kind: 'uuid', uuid: file.uuid satisfies Uuid })
      if (present === undefined) throw fileNotFound()
      try {
        return await opened(present.blob_key, file.size, start, end)
      } catch (error) {
        throw isLost(error) ? await lost(present, error) : error
      }
    },
  }
}
