import type { BlobStore } from '../blobs/blob-store.ts'
import type { Core } from '../core/core.ts'
import type { Signing } from '../core/hmac.ts'
import type { Job } from '../core/jobs/jobs.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import type { Outages } from '../core/outages.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import { type Clock, HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { UploadId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { ThumbnailQueue } from '../thumbnails/thumbnails.ts'
import { FileCommit } from './commit.ts'
import { Contributions } from './contributions.ts'
import {
  type AdmitContributor,
  type AdmitGuest,
  createContributorAdmission,
  createGuestAdmission,
} from './guest-admission.ts'
import { type ContentHashing, createRunningHashes, startContentHashing } from './hashing/content-hash.ts'
import { createIdempotency } from './idempotency.ts'
import { createReceipts } from './receipts.ts'
import { RequestUploads, UploadStoring } from './request-uploads.ts'
import { type ReservationLimits, Reservations } from './reservations.ts'
import { AppendHandler } from './resumable/append.ts'
import { arrivalOf, BytesBeforeOffset, PartialReads } from './resumable/arriving-bytes.ts'
import { Concatenation } from './resumable/concatenation.ts'
import { EMPTY_LASTS, SenderActivity, UploadCreation, UploadReservations } from './resumable/creation.ts'
import { UploadExpiry } from './resumable/expiry.job.ts'
import { Finishing } from './resumable/finish.ts'
import { AppendLeases } from './resumable/leases.ts'
import { createOwnUploadNames, ResumableUploads } from './resumable/resumable-uploads.ts'
import type { UploadRow } from './uploads.rows.ts'

export type UploadsModule = ReturnType<typeof createUploadsModule>

export function createUploadsModule(
  core: Core,
  {
    files,
    thumbnails,
    hashing = startContentHashing(),
  }: {
    readonly files: Pick<FilesModule, 'get' | 'change' | 'removals'>
    readonly thumbnails: ThumbnailQueue
    readonly hashing?: ContentHashing
  },
) {
  const { config, traffic, freeSpace, failed } = core
  const reservations = new Reservations({
    ...core,
    databaseSpace: freeSpace,
    limits: config,
    report: failed('room could not be given back yet'),
  })
  core.shutdown.addSlow(() => hashing.close())
  const commit = new FileCommit({ ...core, thumbnails, limits: config, uploaded: traffic.uploaded })
  const admitGuest = createGuestAdmission(core.rates, config)
  const admitContributor = createContributorAdmission(core.rates, config)
  const contributions = new Contributions({ ...core, keepsAddresses: config.linkAddresses })
  const { maxFileSize } = config
  const storing = new UploadStoring({ ...core, hashing, reservations, commit, maxFileSize })
  const resumable = createResumable({
    ...core,
    admitGuest,
    admitContributor,
    contributions,
    hashing,
    reservations,
    commit,
    limits: config,
    waitsForSpace: ({ slug }) =>
      core.log.info(
        { slug },
        'a file waits for free space to be joined from its parts; it goes on by itself',
      ),
    report: failed('a resumable upload failed'),
  })
  const idempotency = createIdempotency({ ...core, report: failed('a key could not be given back') })
  return {
    requests: new RequestUploads({
      storing,
      idempotency,
      contributions,
      admitGuest,
      admitContributor,
      random: core.random,
      report: failed('an upload that failed could not be removed'),
    }),
    resumable: resumable.uploads,
    senders: new SenderActivity(core),
    arrivalOf: (upload: UploadId) => arrivalOf(core.db, upload),
    partialReads: resumable.partialReads,
    receipts: createReceipts({ ...core, limits: config, resumable: resumable.uploads, files }),
    jobs: [
      { name: 'give back room', on: 'every node', every: 5 * SECOND, run: () => reservations.endFailed() },
      {
        name: 'release uploads',
        on: 'every node',
        every: 5 * SECOND,
        run: () => resumable.leases.releaseLeft(),
      },
      // Includes this node's own leftovers, which other nodes cannot tell from work under way.
      {
        name: 'finish uploads',
        on: 'every node',
        every: 10 * SECOND,
        run: (mayGoOn) => resumable.finishing.resumeAll(mayGoOn),
      },
      {
        name: 'give up unused uploads',
        on: 'one node',
        every: MINUTE,
        run: (mayGoOn) => resumable.expiry.run(mayGoOn),
      },
      {
        name: 'forget old idempotency keys',
        on: 'one node',
        every: 10 * MINUTE,
        run: () => idempotency.forgetOld(),
      },
      {
        name: 'forget contributions that never arrived',
        on: 'one node',
        every: HOUR,
        run: (mayGoOn) => contributions.deleteAbandoned(mayGoOn),
      },
    ] satisfies Job[],
  }
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
}) {
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
    ownNames: createOwnUploadNames(parts.signing),
    aging,
    emptyAging,
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
