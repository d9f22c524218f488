import type { BlobStore } from '../blobs/blob-store.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'
import type { Random } from '../domain/random.ts'
import type { ContentHashing } from './content-hash.ts'
import { createFinishing, type Finishing } from './finishing.ts'
import { createJoining } from './joining.ts'
import type { Nodes } from './nodes.ts'
import { createOwnUploadNames } from './own-upload-names.ts'
import type { RateLimits } from './rate-limits.ts'
import { createReceiving } from './receiving.ts'
import { createResumableUploads, type ResumableUploads } from './resumable-uploads.ts'
import type { RoomLimits, Rooms } from './room.ts'
import { createRunningHashes } from './running-hashes.ts'
import type { Signing } from './signing.ts'
import { createSittings, type Sittings } from './sittings.ts'
import type { StoreHealth } from './store-health.ts'
import type { ThumbnailIntake } from './thumbnails.ts'
import { createUploadCreation } from './upload-creation.ts'
import { createUploadExpiry, type UploadExpiry } from './upload-expiry.ts'
import { createUploadJoins } from './upload-joins.ts'
import { createUploadRooms } from './upload-room.ts'

/** What resumable uploads are made of: for requests the first, for jobs the others. */
export interface Resumable {
  readonly uploads: ResumableUploads
  readonly sittings: Sittings
  readonly finishing: Finishing
  readonly expiry: UploadExpiry
}

/** Puts the parts together. `isShared` says that other nodes may have the database open. */
export function createResumable(parts: {
  db: Db
  isShared: boolean
  blobs: BlobStore
  health: StoreHealth
  hashing: ContentHashing
  nodes: Nodes
  rates: RateLimits
  rooms: Rooms
  thumbnails: ThumbnailIntake
  clock: Clock
  random: Random
  limits: RoomLimits & {
    readonly maxFileSize: number
    readonly maxFolderDepth: number
    readonly uploadExpires: number
  }
  signing: Signing
  uploaded: () => void
  report: (error: unknown) => void
}): Resumable {
  const { db, clock, hashing, limits } = parts
  const { maxFileSize, maxFolderDepth, uploadExpires: expireHours } = limits
  const sittings = createSittings(parts)
  const finishing = createFinishing({ ...parts, sittings, joining: createJoining(parts) })
  const rooms = createUploadRooms(parts)
  const hashes = createRunningHashes(hashing)
  const joins = createUploadJoins(db)
  const uploads = createResumableUploads({
    ...parts,
    ownNames: createOwnUploadNames(parts.signing),
    creation: createUploadCreation({ ...parts, joins, rooms, maxFileSize, maxFolderDepth }),
    sittings,
    receiving: createReceiving({ ...parts, hashes, finishing, rooms, maxFileSize }),
    finishing,
    rooms,
    expireHours,
  })
  const expiry = createUploadExpiry(db, clock, expireHours, parts.report)
  return { uploads, sittings, finishing, expiry }
}
