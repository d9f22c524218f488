import type { Db } from '../database/schema.ts'
import { insertUpload, type UploadRow } from '../database/uploads.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import { parseFolderName } from '../domain/folder-name.ts'
import type { FolderPlace, Sha256, UploadName, UploadToken } from '../domain/ids.ts'
import { makeBlobKey, makeSlug, makeUploadToken, makeUuid, type Random } from '../domain/random.ts'
import { formatSize } from '../domain/sizes.ts'
import { type Caller, reachOf } from './caller.ts'
import { ensurePath } from './folder-path.ts'
import { placeOf } from './places.ts'
import type { Signing } from './signing.ts'
import type { StoreHealth } from './store-health.ts'
import type { UploadJoins } from './upload-joins.ts'
import { guestAddress, type UploadRooms } from './upload-room.ts'

export interface NewUpload {
  readonly place: FolderPlace
  /** Folders on the way from there to the file, which are made where they are missing. */
  readonly path: readonly string[]
  readonly name: string
  readonly declaredType: string | null
  /** As it was sent, to be given back so. */
  readonly metadata: string
  readonly content:
    | { readonly kind: 'whole'; readonly size: number | null }
    | { readonly kind: 'partial'; readonly size: number | null; readonly concat: string }
    | { readonly kind: 'final'; readonly parts: readonly UploadToken[]; readonly concat: string }
}

/** Starts resumable uploads. */
export interface UploadCreation {
  /**
   * Makes the row, with room for all of it. A final upload is given the rows of its parts. Throws Refusal as
   * `ResumableUploads.create` does.
   */
  create(
    caller: Caller,
    request: NewUpload,
    parts: readonly UploadRow[],
  ): Promise<{ token: UploadToken; upload: UploadRow }>
  /** Throws Refusal FILE_TOO_LARGE. */
  assertSize(bytes: number): void
}

export function createUploadCreation(parts: {
  db: Db
  health: StoreHealth
  joins: UploadJoins
  rooms: UploadRooms
  clock: Clock
  random: Random
  signing: Signing
  maxFileSize: number
  maxFolderDepth: number
}): UploadCreation {
  const { db, health, joins, rooms, clock, random, signing, maxFileSize, maxFolderDepth } = parts

  function assertSize(bytes: number): void {
    if (bytes <= maxFileSize) return
    throw new Refusal('FILE_TOO_LARGE', `A file may have ${formatSize(maxFileSize)} at most`)
  }

  async function insert(caller: Caller, request: NewUpload, token: UploadToken): Promise<UploadRow> {
    const { content, place, path } = request
    const reach = reachOf(caller)
    const { account } = reach
    const names = path.map(parseFolderName)
    // Before room is set aside, so that a place that is not there is told as such.
    const start = await placeOf(db, reach, place)
    const now = clock.now()
    const size = content.kind === 'final' ? null : content.size
    return rooms.create(caller, size ?? 0, async (trx) =>
      insertUpload(trx, {
        token_hash: hashToken(token),
        slug: makeSlug(random),
        uuid: makeUuid(random),
        account_id: account,
        folder_id: await ensurePath(trx, account, start, names, { random, now, maxDepth: maxFolderDepth }),
        name: cleanFileName(request.name),
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
        address: caller.kind === 'guest' ? guestAddress(signing, caller.bucket) : null,
      }),
    )
  }

  return {
    assertSize,

    async create(caller, request, found) {
      health.assertUsable()
      const { content } = request
      const token = makeUploadToken(random)
      if (content.kind === 'final') {
        const size = joins.sizeOf(found)
        assertSize(size)
        return { token, upload: await joins.claim(await insert(caller, request, token), found, size) }
      }
      assertSize(content.size ?? 0)
      return { token, upload: await insert(caller, request, token) }
    },
  }
}

/** What is kept of the secret in an upload's address. */
export function hashToken(token: UploadName): Sha256 {
  return Bun.SHA256.hash(token, 'hex') as Sha256
}
