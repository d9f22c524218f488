import { setTimeout as pause } from 'node:timers/promises'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config.ts'
import { dropMeta, metaOf, setMeta } from '../core/meta.rows.ts'
import { assertNoServerRuns } from '../core/nodes/nodes.ts'
import { generationsOf, isBehind } from '../core/store/generations.ts'
import {
  assertPaired,
  type Installation,
  type Marked,
  makeMark,
  pairMeta,
  readStoreMark,
  setMoved,
  writeStoreMark,
} from '../core/store/pairing.ts'
import { forgetThumbnails } from '../core/thumbnails.rows.ts'
import type { Database } from '../database/database.ts'
import { isBlank, migrate } from '../database/migrate.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { disposing } from '../domain/disposing.ts'
import { preconditionFailed, Refusal } from '../domain/errors.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import {
  connect,
  databaseExists,
  holdDataFolder,
  openBlobs,
  type StorageOptions,
  storePlace,
} from '../storage.ts'
import { endEveryUpload } from '../uploads/uploads.rows.ts'
import { contentTotals } from './contents.rows.ts'
import { blobsAmong, blobsNotRelocated, dropRelocatedBlobs, makeRelocatedBlobs } from './copied.rows.ts'
import { addressOf, type StoreAddress } from './copy-threads.ts'
import { copyEveryRow, durabilityOf, type UncopyableBlob, withCopies } from './copying.ts'
import { copyRows, holdsNothing } from './row-copy.rows.ts'
import { holdsBlobs, placeName } from './store-places.ts'
import { grouped, inBatches, type Watch } from './walk.ts'

export type RelocationStep = 'watch' | 'bytes' | 'rows' | 'compare' | 'switch'

/** What is moved away from. Threads read its contents at `address`. */
export interface Origin extends Omit<Installation, 'blobs'> {
  readonly blobs: Marked
  readonly address: StoreAddress
}

/** A half that is not moved is the same object on both sides. */
interface Move {
  readonly source: Origin
  readonly target: Installation
}

interface RelocationParts extends Move {
  readonly clock: Clock
  readonly random: Random
  /** Of the target. */
  readonly config: Config
  /** Without effect once the switch has begun. */
  readonly signal: AbortSignal
  readonly watch: Watch<RelocationStep>
  /** Told to operators who later start a server on the source; null where no server used the source. */
  readonly movedTo: string | null
  readonly skipDamaged: boolean
}

export interface Relocated {
  /** False where damage was found and not skipped: nothing has changed. */
  readonly isSwitched: boolean
  readonly damaged: readonly UncopyableBlob[]
}

function movesOf({ source, target }: Move): { readonly rows: boolean; readonly bytes: boolean } {
  return { rows: source.db !== target.db, bytes: source.blobs !== target.blobs }
}

/**
 * Relocates an installation that is not served: copies every blob and verifies its SHA-256 in the target, then copies
 * every row and compares them one by one. Until the final step the source is unchanged and the target refuses to be
 * served. The next run resumes an interrupted one. The target's database and store get a mark of their own, so that
 * neither can be paired with the remains of the source. Throws Refusal PRECONDITION_FAILED when a server runs or the
 * target is in use.
 */
export async function moveInstallation(parts: RelocationParts): Promise<Relocated> {
  const { source, target, clock, signal, watch, random } = parts
  const moves = movesOf(parts)
  if (!moves.rows && !moves.bytes) throw new Refusal('INVALID_REQUEST', 'everything is there already')

  const shared = [...new Set([source, target].filter(({ isShared }) => isShared).map(({ db }) => db))]
  if (shared.length > 0) watch.begin('watch', { count: shared.length, bytes: 0 })
  const quiet = await Promise.all(shared.map((db) => assertNoServerRuns(db, { clock, pause, signal })))
  const claim = await claimTarget(parts, random)
  if (claim === 'only the last step is missing') {
    await switchOver(parts)
    return { isSwitched: true, damaged: [] }
  }
  const goesOn = claim === 'goes on'
  const damaged = moves.bytes ? await moveBytes(parts, goesOn) : []
  // A blob that the target refused is intact at the source, which a relocation gives up and a restore does not.
  const isGivenUp = parts.movedTo !== null && damaged.some(({ fault }) => fault === 'target')
  if (isGivenUp || (damaged.length > 0 && !parts.skipDamaged)) return { isSwitched: false, damaged }
  if (goesOn) await removeStrays(source.db, target.blobs)
  // Rows last: commands for accounts and keys may change the source until then.
  if (moves.rows)
    await copyEveryRow(copyRows, { from: source.db, to: target.db, sameStore: !moves.bytes }, parts)
  if (moves.bytes) await assertAllThere(target.db, damaged)
  for (const stillQuiet of quiet) await stillQuiet()
  signal.throwIfAborted()
  watch.begin('switch', { count: 1, bytes: 0 })
  await switchOver(parts)
  return { isSwitched: true, damaged }
}

async function moveBytes(parts: RelocationParts, goesOn: boolean): Promise<UncopyableBlob[]> {
  const { source, target, config, watch } = parts
  watch.begin('bytes', await contentTotals(source.db))
  const order = {
    from: source.address,
    to: addressOf(config),
    goesOn,
    readsBack: true,
    rate: null,
  }
  const filled = { to: target.blobs, durability: await durabilityOf(storePlace(config)) }
  return withCopies(order, filled, parts, (copies) =>
    copies.copy({ rows: source.db, memory: target.db, listed: null }),
  )
}

/** Throws when a row references a blob that was not copied: the source was changed meanwhile. */
async function assertAllThere(db: Database, damaged: readonly UncopyableBlob[]): Promise<void> {
  const known = new Set(damaged.map(({ key }) => key))
  const read = (last: BlobKey | null) => blobsNotRelocated(db, last, STEP)
  for await (const missing of inBatches(read)) {
    if (missing.every((key) => known.has(key))) continue
    throw preconditionFailed(
      'files were uploaded while they were moved: stop every server, then start this again, and it goes on',
    )
  }
}

const STEP = 500

/** An earlier run copied them; the source has deleted them since. */
async function removeStrays(db: Database, blobs: BlobStore): Promise<void> {
  for await (const listed of grouped(blobs.list(), STEP)) {
    const keys = listed.map(({ key }) => key)
    const wanted = await blobsAmong(db, keys)
    for (const key of keys) if (!wanted.has(key)) await blobs.remove(key)
  }
}

/** The atomic switch: before it the source is the one to serve, after it the target. */
async function switchOver(move: Move & Pick<RelocationParts, 'clock' | 'movedTo'>): Promise<void> {
  const { source, target, clock, movedTo } = move
  const moves = movesOf(move)
  const next = await metaOf(target.db, pairMeta.next)
  if (next === null) throw new Error('the target has no mark to switch to')
  // A kill after this leaves a source that is not served and an incomplete target; the next run resumes.
  if (moves.rows && movedTo !== null) {
    await inTransaction(source.db, (trx) =>
      setMoved(trx, { to: movedTo, at: clock.now(), isWithBytes: moves.bytes }),
    )
  }
  // First take a shared store from the old database: two databases on one store would remove each other's files.
  if (!moves.bytes) await writeStoreMark(source.blobs, { mark: next, generation: 0 })
  await inTransaction(target.db, async (trx) => {
    const former = await metaOf(trx, pairMeta.mark)
    if (!moves.rows && former !== null) await setMeta(trx, pairMeta.former, former)
    if (!moves.rows && movedTo !== null) await setMeta(trx, pairMeta.bytesMoved, movedTo)
    await setMeta(trx, pairMeta.mark, next)
    await setMeta(trx, pairMeta.marked, next)
    await dropMeta(trx, [pairMeta.relocating, pairMeta.next])
    await dropRelocatedBlobs(trx)
    if (moves.rows) return
    // Resumable uploads and thumbnails stay behind in the old store; thumbnails are made again.
    await endEveryUpload(trx, clock.now())
    await forgetThumbnails(trx)
  })
}

type RelocationClaim =
  /** Only the final step was interrupted. */
  | 'only the last step is missing'
  | 'begun'
  /** An earlier run copied some bytes. */
  | 'goes on'

/**
 * Claims the target for this relocation: it must be unused, or claimed by an earlier run of this relocation. Afterwards
 * no served database uses the target's store, and the target's database, where rows move, refuses to be served. Throws
 * Refusal PRECONDITION_FAILED for a target in use, and what `migrate` and `assertPaired` throw.
 */
async function claimTarget(move: Move, random: Random): Promise<RelocationClaim> {
  const { source, target } = move
  const moves = movesOf(move)
  if (await isBlank(source.db)) {
    throw preconditionFailed('there is nothing to move: the database that is configured is empty')
  }
  await migrate(source.db)
  if (moves.rows) {
    if (await isOnlySwitchMissing(move)) return 'only the last step is missing'
    await assertFree(move)
    await migrate(target.db)
  }
  // A run interrupted while switching over has marked the source as moved already.
  const mayBeMoved = moves.rows && (await isFillingFrom(source.db, target.db))
  await assertPaired(source.db, source.blobs, random, { mayBeMoved })
  await assertCounts(source)
  const origin = await metaOf(source.db, pairMeta.mark)
  if (origin === null) throw new Error('the paired database has no mark')

  if (moves.bytes && (await isOwnStore(target.db, target.blobs))) return 'goes on'
  const next = makeMark(random)
  await inTransaction(target.db, async (trx) => {
    if (moves.rows) await setMeta(trx, pairMeta.relocating, origin)
    await setMeta(trx, pairMeta.next, next)
    // Entries of an earlier relocation describe another store.
    await dropRelocatedBlobs(trx)
    if (moves.bytes) await makeRelocatedBlobs(trx)
  })
  if (moves.bytes) await writeStoreMark(target.blobs, { mark: next, generation: 0 })
  return 'begun'
}

/** Refuses a restored copy of the database, whose store may belong to a newer one. */
async function assertCounts({ db, blobs }: Move['source']): Promise<void> {
  if (!isBehind(await generationsOf(db, blobs))) return
  throw preconditionFailed(
    'the database that is configured is older than what its store has seen; if it is the only one from now on, run "holdfast takeover" first',
  )
}

/** Whether the store, which stays, already belongs to the target's database; then no server uses the source. */
async function isOnlySwitchMissing(move: Move): Promise<boolean> {
  const { source, target } = move
  if (movesOf(move).bytes || !(await isFillingFrom(source.db, target.db))) return false
  const present = await readStoreMark(source.blobs)
  return present !== null && present.mark === (await metaOf(target.db, pairMeta.next))
}

async function isFillingFrom(source: Database, target: Database): Promise<boolean> {
  if (await isBlank(target)) return false
  const origin = await metaOf(target, pairMeta.relocating)
  return origin !== null && origin === (await metaOf(source, pairMeta.mark))
}

async function assertFree({ source, target }: Move): Promise<void> {
  if (await isBlank(target.db)) return
  const origin = await metaOf(target.db, pairMeta.relocating)
  if (origin === null) {
    if (await holdsNothing(target.db)) return
    throw preconditionFailed(
      'the target database is not empty: it is in use already, or an earlier relocation into it is finished; name an empty one',
    )
  }
  if (origin !== (await metaOf(source.db, pairMeta.mark))) {
    throw preconditionFailed(
      'the target database holds the unfinished relocation of another Holdfast; finish that one, or name an empty database',
    )
  }
}

/** True for a store that an earlier run began to fill, false for an empty one. Throws for any other. */
async function isOwnStore(db: Database, store: BlobStore): Promise<boolean> {
  const present = (await readStoreMark(store))?.mark ?? null
  if (present !== null && present === (await metaOf(db, pairMeta.next))) return true
  // The empty target may have been started once, which marks the pair.
  const isFree = present === null || present === (await metaOf(db, pairMeta.mark))
  if (isFree && !(await holdsBlobs(store))) return false
  throw preconditionFailed(
    isFree
      ? 'there are files in the target store already; name an empty one'
      : 'the target store belongs to a database already; name an empty one',
  )
}

export function movedParts(from: Config, to: Config): { readonly rows: boolean; readonly bytes: boolean } {
  const database = ({ databaseUrl, dataDir }: Config) => databaseUrl ?? dataDir
  const store = (config: Config) => placeName(storePlace(config))
  return { rows: database(from) !== database(to), bytes: store(from) !== store(to) }
}

/** `cause`: why, naming the settings of a server at the target. */
export class TargetUnusable extends Error {
  override readonly name = 'TargetUnusable'
}

async function ofTarget<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (cause) {
    throw new TargetUnusable('the target cannot be opened', { cause })
  }
}

/** Locks both data folders against servers. Throws DataFolderInUse, TargetUnusable, and what `relocation.ts` throws. */
export async function relocate(
  parts: StorageOptions &
    Pick<RelocationParts, 'signal' | 'watch' | 'skipDamaged' | 'movedTo'> & { readonly target: Config },
): Promise<Relocated> {
  const { config, target } = parts
  const moves = movedParts(config, target)
  if (!databaseExists(config)) {
    throw preconditionFailed(`there is nothing to move: no database is in ${config.dataDir}`)
  }
  return disposing(async (open) => {
    const partsOf = (its: Config) => ({ ...parts, config: its, report() {} })
    const connected = async (its: Config) => {
      const { db, isShared, close } = await connect(partsOf(its))
      open.defer(close)
      return { db, isShared }
    }
    open.defer(await holdDataFolder(config))
    if (moves.rows) open.defer(await ofTarget(holdDataFolder(target)))
    const blobs = await openBlobs(partsOf(config), false)
    const source = { ...(await connected(config)), blobs, address: addressOf(config) }
    return await moveInstallation({
      ...parts,
      config: target,
      source,
      target: {
        blobs: moves.bytes ? await ofTarget(openBlobs(partsOf(target), false)) : blobs,
        ...(moves.rows ? await ofTarget(connected(target)) : { db: source.db, isShared: source.isShared }),
      },
    })
  })
}
