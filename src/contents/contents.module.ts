import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { MINUTE } from '../domain/clock.ts'
import type { EndableMails } from '../mail/outbox.ts'
import { followDamages, mailDamages } from './damages.job.ts'
import { latestDamage } from './damages.rows.ts'
import { mirrorCopies, mirrorJobs } from './mirror.job.ts'
import { ownBackupJobs } from './own-backups.ts'
import { createDiskLoad, type DiskPressure } from './pace.ts'
import { createSuspectQueue, SCRUB_JOB, scrub } from './scrub.ts'

export function createContentsModule(
  core: Core,
  { diskPressure, mails }: { readonly diskPressure: DiskPressure; readonly mails: EndableMails },
) {
  const { db, clock, config } = core
  const diskLoad = createDiskLoad(config.s3 === null ? diskPressure : async () => null, clock.timers)
  return {
    copies: mirrorCopies(core),
    suspects: createSuspectQueue(core),
    diskLoad,
    jobs: [
      {
        name: SCRUB_JOB,
        on: 'one node',
        every: MINUTE,
        run: (mayGoOn) => scrub({ ...core, diskLoad }, mayGoOn),
      },
      {
        name: 'note damaged contents',
        on: 'one node',
        every: MINUTE,
        run: (mayGoOn) => followDamages(core, mayGoOn),
      },
      {
        name: 'tell of damaged contents',
        on: 'one node',
        every: 10 * MINUTE,
        run: async (mayGoOn) => mailDamages({ ...core, ...mails }, await latestDamage(db), mayGoOn),
      },
      ...mirrorJobs(core),
      ...ownBackupJobs(core, mails),
    ] satisfies Job[],
  }
}
