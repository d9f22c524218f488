import type { Core } from '../core/core.ts'
import type { SecondCopies } from '../core/store/store-health.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import type { ArrivalOf, PartialReads } from './arrivals.ts'
import { createArrivals } from './arrivals.ts'
import { createContent, type SuspectQueue } from './content.ts'
import { createContentTokens } from './content-tokens.ts'
import { startVerification } from './verification.ts'
import { ArchiveSlots } from './zip/archive-slots.ts'
import { createArchiveTokens } from './zip/archive-tokens.ts'
import { Archives } from './zip/archives.ts'

export type DownloadsModule = ReturnType<typeof createDownloadsModule>

export function createDownloadsModule(
  { db, blobs, signing, clock, config, shutdown }: Core,
  {
    contents,
    sharing,
    uploads,
  }: {
    readonly contents: { readonly copies: SecondCopies; readonly suspects: SuspectQueue }
    readonly sharing: Pick<SharingModule, 'access' | 'linkNames'>
    readonly uploads: { readonly arrivalOf: ArrivalOf; readonly partialReads: PartialReads }
  },
) {
  const { copies, suspects } = contents
  const verification = config.verifyReads ? startVerification() : null
  shutdown.addSlow(() => verification?.close())
  return {
    arrivals: createArrivals({ blobs, clock, ...uploads }),
    content: createContent({ db, blobs, copies, verification, suspects, redirects: config.s3Redirect }),
    contentTokens: createContentTokens(signing, sharing.linkNames, clock),
    archives: new Archives(db, blobs, sharing.access, { copies, suspects }, new ArchiveSlots(clock)),
    archiveTokens: createArchiveTokens(signing, clock),
  }
}
