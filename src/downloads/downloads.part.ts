import type { Core } from '../core/core.ts'
import type { SecondCopies } from '../core/store/store-health.ts'
import type { SharingPart } from '../sharing/sharing.part.ts'
import type { ArrivalOf, PartialReads } from './arrivals.ts'
import { type Arrivals, createArrivals } from './arrivals.ts'
import { type Content, createContent, type SuspectQueue } from './content.ts'
import { type ContentTokens, createContentTokens } from './content-tokens.ts'
import { startVerification } from './verification.ts'
import { ArchiveSlots } from './zip/archive-slots.ts'
import { type ArchiveTokens, createArchiveTokens } from './zip/archive-tokens.ts'
import { Archives } from './zip/archives.ts'

export interface DownloadsPart {
  readonly arrivals: Arrivals
  readonly content: Content
  readonly contentTokens: ContentTokens
  readonly archives: Archives
  readonly archiveTokens: ArchiveTokens
}

export function createDownloadsPart(
  { db, blobs, signing, clock, config, shutdown }: Core,
  {
    sharing,
    copies,
    suspects,
    arrivalOf,
    partialReads,
  }: {
    sharing: Pick<SharingPart, 'access' | 'linkNames'>
    copies: SecondCopies
    suspects: SuspectQueue
    arrivalOf: ArrivalOf
    partialReads: PartialReads
  },
): DownloadsPart {
  const verification = config.verifyReads ? startVerification() : null
  shutdown.addSlow(() => verification?.close())
  return {
    arrivals: createArrivals({ blobs, clock, arrivalOf, partialReads }),
    content: createContent({ db, blobs, copies, verification, suspects, redirects: config.s3Redirect }),
    contentTokens: createContentTokens(signing, sharing.linkNames, clock),
    archives: new Archives(db, blobs, sharing.access, { copies, suspects }, new ArchiveSlots(clock)),
    archiveTokens: createArchiveTokens(signing, clock),
  }
}
