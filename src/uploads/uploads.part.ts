import type { Arrival } from '../core/arrival.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { UploadId } from '../domain/ids.ts'
import type { FilesPart } from '../files/files.part.ts'
import type { ThumbnailQueue } from '../thumbnails/thumbnails.ts'
import { arrivalOf } from './arrival.ts'
import { FileCommit } from './commit.ts'
import { Contributions } from './contributions.ts'
import { DirectUploads } from './direct-uploads.ts'
import { createContributorAdmission, createGuestAdmission } from './guest-admission.ts'
import { type ContentHashing, startContentHashing } from './hashing/content-hash.ts'
import { createIdempotency } from './idempotency.ts'
import { createReceipts, type Receipts } from './receipts/receipts.ts'
import { Reservations } from './reservations.ts'
import { SenderActivity } from './resumable/empty-uploads.ts'
import type { PartialReads } from './resumable/partial-reads.ts'
import { createResumable } from './resumable/resumable.ts'
import type { ResumableUploads } from './resumable/resumable-uploads.ts'
import { UploadRequests } from './upload-requests.ts'

export interface UploadsPart {
  readonly requests: UploadRequests
  readonly resumable: ResumableUploads
  readonly receipts: Receipts
  readonly senders: SenderActivity
  readonly arrivalOf: (upload: UploadId) => Promise<Arrival>
  readonly partialReads: PartialReads
  readonly jobs: readonly Job[]
}

export function createUploadsPart(
  core: Core,
  {
    files,
    thumbnails,
    hashing = startContentHashing(),
  }: {
    readonly files: Pick<FilesPart, 'get' | 'change' | 'removals'>
    readonly thumbnails: ThumbnailQueue
    readonly hashing?: ContentHashing
  },
): UploadsPart {
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
  const direct = new DirectUploads({
    ...core,
    hashing,
    reservations,
    commit,
    maxFileSize: config.maxFileSize,
  })
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
    requests: new UploadRequests({
      direct,
      idempotency,
      contributions,
      admitGuest,
      admitContributor,
      random: core.random,
      report: failed('an upload that failed could not be removed'),
    }),
    resumable: resumable.uploads,
    senders: new SenderActivity(core),
    arrivalOf: (upload) => arrivalOf(core.db, upload),
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
    ],
  }
}
