import type { MailConfig, SettingInForce } from '../config.ts'
import type { DiskLoad } from '../contents/pace.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { assertOwnStore } from '../core/store/pairing.ts'
import { MINUTE, SECOND } from '../domain/clock.ts'
import { dataDiskSize, reserveOf } from '../storage.ts'
import { createAllFiles } from './all-files.ts'
import { createBackgroundJobs } from './background-jobs.ts'
import { databaseCheckJobs } from './database-check.ts'
import { createDiskWatch, warnOfFloor } from './disk-space.ts'
import { createDoctor } from './doctor/doctor.ts'
import { createProbes } from './doctor/raw-request.ts'
import { createFigures } from './figures.ts'
import { createIntegrity } from './integrity.ts'
import type { Metrics } from './metrics/metrics.ts'
import { createNotices } from './notices.ts'
import { createStatistics } from './statistics.ts'

export type TryMail = (mail: MailConfig) => Promise<void>

export type OperationsModule = Awaited<ReturnType<typeof createOperationsModule>>

export async function createOperationsModule(
  core: Core,
  given: {
    /** Without secrets. */
    readonly settings: readonly SettingInForce[]
    readonly metrics: Metrics | null
    readonly diskLoad: DiskLoad
    readonly tryMail: TryMail
  },
) {
  const { settings, metrics, diskLoad, tryMail } = given
  const { db, blobs, freeSpace, nodes, clock, config, log, failed } = core
  const diskWatch = createDiskWatch({
    blobSpace: () => blobs.freeSpace(),
    databaseSpace: freeSpace,
    floor: config.minFreeSpace,
    guests: config.guestUploads,
    reserve: reserveOf(config),
    clock,
    log,
  })
  const disk = await dataDiskSize(config)
  if (disk !== null) warnOfFloor(log, config.minFreeSpace, disk)
  const notices = createNotices(db, clock)
  await notices.refresh()
  const statistics = createStatistics({
    ...core,
    freeSpace: async () => (await blobs.freeSpace()) ?? freeSpace(),
    report: failed('traffic could not be written'),
  })
  const backgroundJobs = createBackgroundJobs(db, nodes, clock, core.history)
  const integrity = createIntegrity({ ...core, jobs: backgroundJobs })
  const probes = createProbes(core.signing, clock)
  const probeStore = async () => {
    await assertOwnStore(db, blobs)
    await blobs.probe()
  }
  return {
    allFiles: createAllFiles(db),
    auditLog: core.auditLog,
    backgroundJobs,
    branding: core.branding,
    diskLoad,
    diskWatch,
    doctor: createDoctor(
      { ...core, tryMail },
      { db, jobs: backgroundJobs, integrity, probeStore, token: () => probes.token() },
    ),
    figures: createFigures(core),
    integrity,
    metrics,
    notices,
    probes,
    readiness: core.readiness,
    removing: core.removing,
    settings,
    statistics,
    jobs: [
      { name: 'watch the disk', on: 'every node', every: 10 * SECOND, run: () => diskWatch.watch() },
      { name: 'read the notice', on: 'every node', every: 2 * SECOND, run: () => notices.refresh() },
      ...(await databaseCheckJobs(core)),
      { name: 'note totals', on: 'one node', every: 10 * MINUTE, run: () => statistics.sample() },
    ] satisfies Job[],
  }
}
