import { join } from 'node:path'
import { sql } from 'kysely'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { MirrorConfig } from '../config.ts'
import type { Installation } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import { endsWithin } from '../domain/abort.ts'
import { type Clock, DAY, MINUTE } from '../domain/clock.ts'
import { disposing } from '../domain/disposing.ts'
import { preconditionFailed } from '../domain/errors.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { Log } from '../log.ts'
import { settings } from '../settings.ts'
import { openRows, type StorageOptions } from '../storage.ts'
import { dropListed, listedAmong, listedKeys, makeListed } from './copied.rows.ts'
import { noteListed } from './copying.ts'
import { markFound } from './damage.ts'
import type { MarkState } from './mark-copies.ts'
import {
  type Copied,
  type MirroredContent,
  type MirrorOrder,
  mirroredAfter,
  mirrorTotals,
  queueKeys,
} from './mirror.rows.ts'
import {
  attachedMirror,
  type Mirror,
  type MirrorParts,
  mirrorLag,
  openMirror,
  takeOverMirror,
} from './mirror-place.ts'
import { type CopiesRead, isReadingDue, type RepairResult, readCopies, readRound } from './mirror-reading.ts'
import { syncMirror } from './mirror-sync.ts'
import { createDiskLoad, createThrottle, linuxDiskPressure } from './pace.ts'
import { makeScratch } from './scratch.ts'
import { isOnDiskOf, placeName, withInstallation } from './store-places.ts'
import { type Amount, inBatches, type Watch } from './walk.ts'

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
    mirrored: await mirrorTotals(db, 'mirrored'),
    lacking: await mirrorTotals(db, 'lacking'),
    waited: await mirrorLag(db, clock.now()),
    // Losing the one disk would lose both copies.
    isOnSameDisk: config.s3 === null && (await isOnDiskOf(config.dataDir, place)),
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
  const { count, bytes } = await mirrorTotals(db, 'mirrored')
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
  watch.begin('copy', await mirrorTotals(opened.db, 'lacking'))
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

const BATCH = 500

export interface Adopted {
  /** `unknown`: without a row, removed a day later. */
  readonly kept: number
  readonly missing: number
  readonly unknown: number
  /** Authentic, so of this installation or one it was restored from; null for an empty place. */
  readonly authenticated: boolean | null
}

/** Throws MirrorUnusable for a place that holds anything but a mirror. */
export async function adoptMirror(parts: MirrorParts): Promise<Adopted> {
  let found = { kept: 0, missing: 0, unknown: 0 }
  const authenticated = await takeOverMirror(parts, async (store) => {
    found = await reconcile(parts, store)
  })
  return { ...found, authenticated }
}

/** Compares rows with the store's list. Memory use is independent of the number. */
async function reconcile(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  store: BlobStore,
): Promise<Omit<Adopted, 'authenticated'>> {
  return disposing(async (open) => {
    const scratch = open.use(await makeScratch())
    const listed = open.use(openRows(join(scratch.path, 'listed.sqlite')))
    await makeListed(listed)
    await noteListed(listed, store.list())
    let [kept, missing, unknown] = [0, 0, 0]
    const read = (last: MirroredContent | null) => mirroredAfter(db, { after: last?.id ?? null }, BATCH)
    for await (const contents of inBatches(read)) {
      const found = await listedAmong(
        listed,
        contents.map(({ mirroredKey }) => mirroredKey),
      )
      const isThere = ({ mirroredKey: key, size }: MirroredContent) => found.get(key) === size
      const there = contents.filter(isThere).map(({ mirroredKey }) => mirroredKey)
      const gone = contents
        .filter((content) => !isThere(content))
        .map(({ id, mirroredKey: key }) => ({ id, key }))
      await dropCopies(db, gone)
      await dropListed(listed, there)
      kept += there.length
      missing += gone.length
    }
    // Each batch is dropped before the next is read.
    for await (const keys of inBatches(() => listedKeys(listed, BATCH))) {
      await queueKeys(db, keys, clock.now() + DAY)
      await dropListed(listed, keys)
      unknown += keys.length
    }
    return { kept, missing, unknown }
  })
}

/** Keeps copies recorded meanwhile. */
async function dropCopies(db: Database, copies: readonly Copied[]): Promise<void> {
  if (copies.length === 0) return
  const [ids, keys] = [copies.map(({ id }) => id), copies.map(({ key }) => key)]
  await sql`update blobs set mirrored_key = null
    where id in (${sql.join(ids)}) and mirrored_key in (${sql.join(keys)})`.execute(db)
}
