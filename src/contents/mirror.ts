import { stat } from 'node:fs/promises'
import type { Config, MirrorConfig, StorePlace } from '../config.ts'
import type { Installation } from '../core/store/pairing.ts'
import { endsWithin } from '../domain/abort.ts'
import { MINUTE } from '../domain/clock.ts'
import { preconditionFailed } from '../domain/errors.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { Log } from '../log.ts'
import { settings } from '../settings.ts'
import type { StorageOptions } from '../storage.ts'
import { markFound } from './damage.ts'
import { withInstallation } from './installation.ts'
import type { MarkState } from './mark-copies.ts'
import { type Amount, type MirrorOrder, mirroredTotals, unmirroredTotals } from './mirror.rows.ts'
import { type Adopted, adoptMirror } from './mirror-adoption.ts'
import { attachedMirror, type Mirror, type MirrorParts, mirrorLag, openMirror } from './mirror-place.ts'
import { type CopiesRead, isReadingDue, readCopies, readRound } from './mirror-reading.ts'
import type { RepairResult } from './mirror-repair.ts'
import { syncMirror } from './mirror-sync.ts'
import { createDiskLoad, createThrottle, linuxDiskPressure } from './pace.ts'
import { placeName } from './store-places.ts'
import type { Watch } from './walk.ts'

export type MirrorStep = 'copy' | 'read'

export type MirrorCommand = StorageOptions & {
  readonly adopts: boolean
  /** Null: the server copies. */
  readonly keeps: MirrorOrder | null
  /** Share of copies, 0 to 1. */
  readonly reads: number | null
  /** Bytes a second at most; null: the server's rate. */
  readonly rate: number | null
  readonly signal: AbortSignal
  readonly watch: Watch<MirrorStep>
  readonly log: Log
}

export interface MirrorReport {
  readonly place: string
  readonly state: MarkState | null
  readonly mirrored: Amount
  readonly lacking: Amount
  /** Milliseconds. */
  readonly waited: number
  readonly isOnSameDisk: boolean
  readonly adopted: Adopted | null
  readonly read: CopiesRead | null
}

/** Throws Refusal PRECONDITION_FAILED without a mirror or database, MirrorUnusable, WrongStore, StoreFailure. */
export function runMirrorCommand(command: MirrorCommand): Promise<MirrorReport> {
  return opened(command, async (parts) => reportOf(command, parts, await work(command, parts)))
}

/**
 * As `runMirrorCommand`, without a report, which reads all rows. Also reads copies that are due again; new
 * contents are copied every minute meanwhile.
 */
export async function runMirrorForServer(command: MirrorCommand): Promise<void> {
  await opened(command, async (parts) => {
    const { config, clock, signal } = command
    const mirror = await openMirror({ ...command, ...parts })
    let isOver = false
    let endsAt = Number.POSITIVE_INFINITY
    const isDue = await isReadingDue(parts.db, parts, clock.now())
    const reading = isDue
      ? readRound({
          ...command,
          ...parts,
          mirror,
          throttle: createThrottle(config.scrubRate, clock.timers, signal),
          diskLoad: createDiskLoad(
            parts.place.kind === 'folder' ? linuxDiskPressure : noPressure,
            clock.timers,
          ),
          mayGoOn: () => clock.monotonic() < endsAt,
        })
      : Promise.resolve()
    const ended = reading.finally(() => {
      isOver = true
    })
    ended.catch(() => {})
    try {
      do {
        await keep(command, parts, mirror, 'newest first')
        await endsWithin(KEEPS_EVERY, ended)
      } while (!isOver)
    } finally {
      // A mirror that is full or read-only can still be read.
      endsAt = clock.monotonic() + KEEPS_EVERY
      await ended
    }
  })
}

const KEEPS_EVERY = MINUTE
const noPressure = async () => null

async function opened<T>(command: MirrorCommand, use: (parts: Opened) => Promise<T>): Promise<T> {
  const { mirror } = command.config
  if (mirror === null) throw preconditionFailed(`there is no mirror: ${settings.mirror.variable} is not set`)
  const onFault: Opened['onFault'] = ({ copy, reason }) =>
    command.log.warn({}, `of the two copies of the mirror's mark, "${copy}" ${reason}; it is made anew`)
  return withInstallation(command, (installation) => use({ ...installation, ...mirror, onFault }))
}

type Opened = MirrorConfig & Installation & Pick<MirrorParts, 'onFault'>

async function work(command: MirrorCommand, parts: Opened): Promise<Pick<MirrorReport, 'adopted' | 'read'>> {
  const { adopts, keeps, reads } = command
  const adopted = adopts ? await adoptMirror({ ...command, ...parts }) : null
  const mirror = await openMirror({ ...command, ...parts })
  const read = reads === null ? null : await readShare(command, parts, mirror, reads)
  if (keeps !== null) await keep(command, parts, mirror, keeps)
  return { adopted, read }
}

async function reportOf(
  { config, clock }: MirrorCommand,
  { db, place }: Opened,
  done: Pick<MirrorReport, 'adopted' | 'read'>,
): Promise<MirrorReport> {
  return {
    place: placeName(place),
    state: await attachedMirror(db),
    mirrored: await mirroredTotals(db),
    lacking: await unmirroredTotals(db),
    waited: await mirrorLag(db, clock.now()),
    isOnSameDisk: await isOnSameDisk(place, config),
    ...done,
  }
}

async function readShare(
  command: MirrorCommand,
  { db }: Opened,
  mirror: Mirror,
  share: number,
): Promise<CopiesRead> {
  const { watch } = command
  const { contents: count, bytes } = await mirroredTotals(db)
  watch.begin('read', { count, bytes: Math.round(bytes * share) })
  const tell = (done: { count: number; bytes: number }) => watch.advance({ ...done, wasThere: false })
  return readCopies({ ...command, db, mirror, share, tell })
}

async function keep(
  command: MirrorCommand,
  opened: Opened,
  mirror: Mirror,
  order: MirrorOrder,
): Promise<void> {
  const { config, clock, signal, watch, log } = command
  const { contents, bytes: all } = await unmirroredTotals(opened.db)
  watch.begin('copy', { count: contents, bytes: all })
  const throttle = createThrottle(command.rate ?? opened.rate, clock.timers, signal)
  await syncMirror({
    ...command,
    ...opened,
    mirror,
    order,
    minFree: config.minFreeSpace,
    async throttle(bytes) {
      await throttle(bytes)
      watch.advance({ count: 0, bytes, wasThere: false })
    },
    onDamage: (wrong) => markFound({ ...opened, clock, log }, wrong),
    onFailure: (error) => log.error({ err: error }, 'the mirror could not be kept for one content'),
    onRepaired: (key, result) => tellResult(log, key, result),
    onCopied: (count) => watch.advance({ count, bytes: 0, wasThere: false }),
  })
}

function tellResult(log: Log, key: BlobKey, result: RepairResult): void {
  if (result === 'repaired') log.warn({ key }, 'a damaged content was brought back from the mirror')
  if (result === 'damaged')
    log.error({ key }, 'a content is damaged, and its copy in the mirror is damaged too')
}

/** Losing the one disk would lose both copies. */
async function isOnSameDisk(place: StorePlace, { s3, dataDir }: Config): Promise<boolean> {
  if (place.kind !== 'folder' || s3 !== null) return false
  const [mirror, data] = await Promise.all([stat(place.path), stat(dataDir)])
  return mirror.dev === data.dev
}
