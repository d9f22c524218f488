import { reachOf, type Sender } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/differences.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { cleanFileName } from '../../domain/file-name.ts'
import { parseFolderName } from '../../domain/folder-name.ts'
import type { FolderPlace, UploadToken } from '../../domain/ids.ts'
import { makeBlobKey, makeSlug, makeUploadToken, makeUuid, type Random } from '../../domain/random.ts'
import type { Answers } from '../../domain/upload-terms.ts'
import { ensurePath } from '../../files/folders/folder-path.ts'
import { placeOf } from '../../files/folders/places.ts'
import type { Contributions } from '../contributions.ts'
import { assertFileSize } from '../size-limit.ts'
import { type UploadRow, uploadByToken } from '../uploads.rows.ts'
import { areWhole, claimParts, sizeOfParts } from './part-claims.ts'
import { hashUploadName } from './upload-names.ts'
import { guestAddress, type UploadReservations } from './upload-reservations.ts'

interface FinalContent {
  readonly kind: 'final'
  readonly parts: readonly UploadToken[]
  readonly concat: string
  /** Of a request that may be repeated: see `repeatableToken`. */
  readonly key: string | null
}

export interface NewUpload {
  readonly place: FolderPlace
  /** Whether the request names the folder itself; guests may not. */
  readonly namesFolder: boolean
  /** Folders on the way from there to the file, which are made where they are missing. */
  readonly path: readonly string[]
  readonly name: string
  readonly declaredType: string | null
  /** As it was sent, to be given back so. */
  readonly metadata: string
  /** Of a contributor: what the link asks for. */
  readonly answers?: Answers
  readonly content:
    | { readonly kind: 'whole'; readonly size: number | null }
    | { readonly kind: 'partial'; readonly size: number | null; readonly concat: string }
    | FinalContent
}

export interface UploadCreationParts {
  readonly db: Database
  readonly health: StoreHealth
  readonly reservations: UploadReservations
  readonly contributions: Contributions
  readonly clock: Clock
  readonly random: Random
  readonly signing: Signing
  readonly maxFileSize: number
  readonly maxFolderDepth: number
}

/** Starts resumable uploads. */
export class UploadCreation {
  readonly #parts: UploadCreationParts

  constructor(parts: UploadCreationParts) {
    this.#parts = parts
  }

  /**
   * Makes the row, with all of the upload reserved. A final upload is given the rows of its parts, and waits for those
   * whose bytes are still to come. Throws Refusal as `ResumableUploads.create` does.
   */
  async create(
    caller: Sender,
    request: NewUpload,
    parts: readonly UploadRow[],
  ): Promise<{ token: UploadToken; upload: UploadRow }> {
    const { db, health, random, reservations, maxFileSize } = this.#parts
    health.assertUsable()
    const { content } = request
    const token = repeatableToken(request) ?? makeUploadToken(random)
    if (content.kind === 'final') {
      const size = sizeOfParts(parts)
      assertFileSize(size, maxFileSize)
      if (!areWhole(parts)) {
        const missing = parts.reduce((sum, part) => sum + Math.max(0, (part.size ?? 0) - part.reserved), 0)
        if (caller.kind === 'guest') await reservations.check(caller, missing)
        return { token, upload: await this.#insertFinal(caller, request, token, size) }
      }
      const final = await this.#insertFinal(caller, request, token, null)
      return { token, upload: await claimParts(db, final, parts, size) }
    }
    assertFileSize(content.size ?? 0, maxFileSize)
    return { token, upload: await this.#insert(caller, request, token, content.size) }
  }

  /**
   * The row of a final upload, with its size where it is to wait for its parts; that of the same request before it, which
   * waits, or which a node that died left without its parts.
   */
  async #insertFinal(
    caller: Sender,
    request: NewUpload,
    token: UploadToken,
    size: number | null,
  ): Promise<UploadRow> {
    const { db } = this.#parts
    const find = () => uploadByToken(db, hashUploadName(token))
    const begun = await find()
    if (begun !== undefined) return begun
    try {
      return await this.#insert(caller, request, token, size)
    } catch (error) {
      const same = isUniqueViolation(error) ? await find() : undefined
      if (same !== undefined) return same
      throw error
    }
  }

  async #insert(
    caller: Sender,
    request: NewUpload,
    token: UploadToken,
    size: number | null,
  ): Promise<UploadRow> {
    const { db, reservations, contributions, clock, random, signing, maxFolderDepth } = this.#parts
    const { content, place, path } = request
    const reach = reachOf(caller)
    const { account } = reach
    const names = path.map(parseFolderName)
    // Before anything is reserved, so that a place that is not there is told as such.
    const start = await placeOf(db, reach, place)
    const now = clock.now()
    // The parts of a final upload have their reservations.
    const reserved = content.kind === 'final' ? 0 : (size ?? 0)
    const uuid = makeUuid(random)
    const name = cleanFileName(request.name)
    return reservations.create(caller, reserved, async (trx) => {
      if (caller.kind === 'contributor') {
        const { answers = {} } = request
        if (names.length > 0) await contributions.assertFewFolders(trx, start)
        await contributions.take(trx, caller, {
          name,
          size: sizeOf(request),
          answers,
          uuid,
          reservation: null,
        })
      }
      return {
        token_hash: hashUploadName(token),
        slug: makeSlug(random),
        uuid,
        account_id: account,
        folder_id: await ensurePath(trx, account, start, names, { random, now, maxDepth: maxFolderDepth }),
        name,
        declared_type: request.declaredType,
        metadata: request.metadata,
        kind: content.kind,
        concat: content.kind === 'whole' ? null : content.concat,
        size,
        received: 0,
        key: makeBlobKey(random),
        state: size === 0 ? 'processing' : 'uploading',
        created_at: now,
        used_at: now,
        address: caller.kind === 'account' ? null : guestAddress(signing, caller.bucket),
        ...(caller.kind === 'contributor' ? { link_id: caller.link } : {}),
      }
    })
  }
}

/** Throws Refusal INVALID_REQUEST for what a link could not measure: it takes each file as one upload of known length. */
export function sizeOf({ content }: NewUpload): number {
  if (content.kind === 'whole' && content.size !== null) return content.size
  throw new Refusal('INVALID_REQUEST', 'An upload by a link needs Upload-Length, and is not made of parts')
}

/**
 * The token of a final upload that was created under an idempotency key. It follows from what the request says, so that
 * a repetition, after an answer that was lost, finds the upload: the parts can be claimed but once. It is as secret as
 * the parts' own tokens. Null for any other upload.
 */
export function repeatableToken({ content, metadata }: NewUpload): UploadToken | null {
  if (content.kind !== 'final' || content.key === null) return null
  return finalToken(content.key, content.parts, metadata)
}

export function finalToken(key: string, parts: readonly UploadToken[], metadata: string): UploadToken {
  const said = JSON.stringify(['final upload', key, parts, metadata])
  return Bun.SHA256.hash(said, 'hex').slice(0, 32) as UploadToken
}
