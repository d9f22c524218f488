import type { BlobStore } from '../../blobs/blob-store.ts'
import type { Signing } from '../../core/hmac.ts'
import type { Nodes } from '../../core/nodes/nodes.ts'
import type { Outages } from '../../core/outages.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import type { Random } from '../../domain/random.ts'
import type { FileCommit } from '../commit.ts'
import type { Contributions } from '../contributions.ts'
import type { AdmitContributor, AdmitGuest } from '../guest-admission.ts'
import type { ContentHashing } from '../hashing/content-hash.ts'
import { createRunningHashes } from '../hashing/running-hashes.ts'
import type { ReservationLimits, Reservations } from '../reservations.ts'
import type { UploadRow } from '../uploads.rows.ts'
import { AppendHandler } from './append-handler.ts'
import { AppendLeases } from './append-leases.ts'
import { BytesBeforeOffset } from './bytes-before.ts'
import { Concatenation } from './concatenation.ts'
import { EMPTY_LASTS } from './empty-uploads.ts'
import { Finishing } from './finishing.ts'
import { createOwnUploadNames } from './own-upload-names.ts'
import { PartialReads } from './partial-reads.ts'
import { ResumableUploads } from './resumable-uploads.ts'
import { UploadCreation } from './upload-creation.ts'
import { UploadExpiry } from './upload-expiry.job.ts'
import { UploadLookup } from './upload-lookup.ts'
import { UploadReservations } from './upload-reservations.ts'

export interface Resumable {
  readonly uploads: ResumableUploads
  readonly leases: AppendLeases
  readonly finishing: Finishing
  readonly expiry: UploadExpiry
  readonly partialReads: PartialReads
}

/** `isShared`: other nodes may have the database open. */
export function createResumable(parts: {
  db: Database
  isShared: boolean
  blobs: BlobStore
  health: StoreHealth
  hashing: ContentHashing
  nodes: Nodes
  rates: RateLimits
  reservations: Reservations
  commit: FileCommit
  contributions: Contributions
  admitGuest: AdmitGuest
  admitContributor: AdmitContributor
  clock: Clock
  random: Random
  limits: ReservationLimits & {
    readonly maxFileSize: number
    readonly maxFolderDepth: number
    readonly uploadExpires: number
  }
  outages: Pick<Outages, 'aging' | 'settle'>
  signing: Signing
  waitsForSpace: (upload: UploadRow) => void
  report: (error: unknown) => void
}): Resumable {
  const { clock, outages, limits } = parts
  const { maxFileSize, maxFolderDepth } = limits
  const aging = outages.aging(limits.uploadExpires * HOUR)
  const emptyAging = outages.aging(EMPTY_LASTS)
  const leases = new AppendLeases(parts)
  const finishing = new Finishing({ ...parts, leases, concatenation: new Concatenation(parts) })
  const reservations = new UploadReservations(parts)
  const hashes = createRunningHashes(parts.hashing)
  const partialReads = new PartialReads({ ...parts, leases })
  const uploads = new ResumableUploads({
    ...parts,
    lookup: new UploadLookup({ ...parts, ownNames: createOwnUploadNames(parts.signing), aging, emptyAging }),
    creation: new UploadCreation({ ...parts, reservations, maxFileSize, maxFolderDepth }),
    leases,
    appendHandler: new AppendHandler({ ...parts, hashes, finishing, reservations, maxFileSize }),
    finishing,
    reservations,
    before: new BytesBeforeOffset({ ...parts, partialReads }),
    maxFileSize,
  })
  const expiry = new UploadExpiry({ db: parts.db, clock, outages, aging, emptyAging, report: parts.report })
  return { uploads, leases, finishing, expiry, partialReads }
}
