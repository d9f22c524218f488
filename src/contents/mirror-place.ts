import * as z from 'zod/mini'
import { type BlobStore, type MarkCopy, StoreFailure } from '../blobs/blob-store.ts'
import type { StorePlace } from '../config.ts'
import { metaOf, metaValue, setMeta } from '../core/meta.rows.ts'
import { pairMeta } from '../core/store/pairing.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, HOUR, SECOND, sleep } from '../domain/clock.ts'
import type { Random } from '../domain/random.ts'
import { openPlace } from '../storage.ts'
import {
  COPIES,
  type CopyFault,
  isAuthentic,
  type MarkState,
  macOf,
  makeSeries,
  parsedJson,
  readCopyText,
  stateName,
  withSum,
} from './mark-copies.ts'
import { mirroredAfter, oldestUnmirrored } from './mirror.rows.ts'
import { holdsBlobs, holdsOtherThings, inSettingsOf, isUnmarkedFolder, placeName } from './store-places.ts'

/**
 * The mirror's store. Its mark names the pair of database and store, so that a foreign or unmounted folder is
 * neither filled nor cleared; a restored or relocated pair has another mark. The database keeps the mark's
 * lowest acceptable number, so that an older state of the mirror is refused.
 */

/** Keys in `meta`. Restores take the mirror key along. */
const [STATE, KEY] = ['mirror_state', 'mirror_key']
const KEY_BYTES = 32

const mirrorState = z.object({
  /** When this mirror was attached, in milliseconds. */
  since: z.int(),
  series: z.string(),
  /** The highest number that a run was given to write. */
  given: z.int(),
  /** Lowest acceptable number: recorded copies and removals came before it was written. */
  number: z.int(),
  /** Milliseconds. */
  lookedAt: z.int(),
})
type MirrorState = z.infer<typeof mirrorState>

/** Also without anything to copy. */
const LOOKED_AT_EVERY = HOUR
/** Two runs may write their numbers out of order, and then write again. */
const SETTLES = { looks: 3, every: SECOND / 2 }

/** The mirror cannot be used now. An outage, so jobs do not count it as their failure. */
export class MirrorUnusable extends StoreFailure {
  override readonly name = 'MirrorUnusable'

  constructor(message: string, options?: ErrorOptions) {
    super('away', options)
    this.message = message
  }
}

export interface MirrorParts {
  readonly db: Database
  readonly clock: Clock
  readonly random: Random
  readonly place: StorePlace
  /** A missing or damaged copy of the mark; it is replaced. */
  readonly onFault: (fault: CopyFault) => void
}

export interface Mirror {
  readonly store: BlobStore
  /** Throws MirrorUnusable where the place (perhaps unmounted) is not this mirror, or an older state of it. */
  assertOwn(): Promise<void>
  /** Call before recording copies or removals. Throws MirrorUnusable where another mirror is attached. */
  advance(): Promise<number>
  /** Locks out a change of mirror until `trx` ends. Throws MirrorUnusable where another mirror is attached. */
  remember(trx: Trx, number: number): Promise<void>
}

async function stateOf(db: Queryable): Promise<MirrorState | null> {
  const text = await metaOf(db, STATE)
  return text === null ? null : mirrorState.parse(JSON.parse(text))
}

export async function attachedMirror(db: Database): Promise<(MarkState & { readonly since: number }) | null> {
  return stateOf(db)
}

export async function isLookDue(db: Database, now: number): Promise<boolean> {
  const state = await stateOf(db)
  return state !== null && now - state.lookedAt >= LOOKED_AT_EVERY
}

/** Returns the new state. Throws MirrorUnusable where the mirror has another series now. */
async function changeState(
  trx: Trx,
  { series, place }: { readonly series: string; readonly place: StorePlace },
  change: (now: MirrorState) => Partial<MirrorState>,
): Promise<MirrorState> {
  const held = trx.selectFrom('meta').select('value').where('key', '=', STATE)
  const row = await held.modifyEnd(forUpdate(trx)).executeTakeFirst()
  const now = row === undefined ? null : mirrorState.parse(JSON.parse(row.value))
  if (now === null || now.series !== series) throw foreign(place)
  const next = { ...now, ...change(now) }
  await setMeta(trx, STATE, JSON.stringify(next))
  return next
}

async function ownIdentity(
  db: Database,
  random: Random,
): Promise<{ readonly pair: string; readonly key: string }> {
  const pair = await metaOf(db, pairMeta.mark)
  if (pair === null) throw new MirrorUnusable('no server has run on this database yet')
  const key = await metaValue(db, KEY, () => Buffer.from(random(KEY_BYTES)).toString('hex'))
  return { pair, key }
}

/**
 * Opens the mirror. Begins a new one in an empty place if no content has a copy yet. Throws MirrorUnusable where the
 * place is unreachable, is not this database's mirror, or has an older state than the database expects.
 */
export async function openMirror({ db, place, clock, random, onFault }: MirrorParts): Promise<Mirror> {
  const { pair, key } = await ownIdentity(db, random)
  const begun = { since: clock.now(), series: makeSeries(random), given: 1, number: 1, lookedAt: clock.now() }
  const text = await metaValue(db, STATE, () => JSON.stringify(begun))
  const { series } = mirrorState.parse(JSON.parse(text))
  // Check before the store creates its folders there.
  if (isUnmarkedFolder(place)) await assertNoCopies(db, place)
  const store = await opened(place, random)

  const inOrder = (change: (now: MirrorState) => Partial<MirrorState>) =>
    inTransaction(db, (trx) => changeState(trx, { series, place }, change))

  /** The mark found, unless older than expected; null for none. */
  async function present(): Promise<FoundMark | null> {
    for (let look = 1; ; look++) {
      // Read the database first: its number only grows.
      const known = await stateOf(db)
      const found = await markOf(store, place, key)
      if (found === null) return null
      const { mark } = found
      if (mark === null) throw found.isForged ? foreign(place) : damaged(place)
      if (mark.pair !== pair || mark.series !== series) throw foreign(place)
      if (known === null || mark.number >= known.number) return found
      if (look === SETTLES.looks) throw older(place, mark, known)
      await sleep(clock.timers, SETTLES.every)
    }
  }

  async function advance(): Promise<number> {
    let { given } = await inOrder((now) => ({ given: now.given + 1 }))
    for (;;) {
      await writeMirrorMark(store, { pair, series, number: given }, key)
      const now = await stateOf(db)
      if (now === null || now.series !== series) throw foreign(place)
      // Another run may have written a higher number, which this write replaced.
      if (now.given <= given) return given
      given = now.given
    }
  }

  const found = await present()
  if (found === null) {
    await assertNoCopies(db, place)
    await assertEmpty(store, place)
  }
  for (const fault of found?.faults ?? []) onFault(fault)
  const least = found?.mark?.number ?? 0
  await inOrder((now) => ({ lookedAt: clock.now(), given: Math.max(now.given, least) }))
  if (found?.isTwice !== true) await advance()
  return {
    store,
    async assertOwn() {
      if ((await present()) === null) throw lost(place)
    },
    advance,
    async remember(trx, number) {
      await changeState(trx, { series, place }, (now) => ({ number: Math.max(now.number, number) }))
    },
  }
}

/**
 * Makes the place this database's mirror, whichever pair it belonged to. `reconcile` runs while no copies can
 * be recorded, and before the place counts as the mirror; after a kill, take it over again. Returns whether
 * the mark is authentic, so of this installation or one that it was restored or relocated from; null for an
 * empty place. Throws MirrorUnusable for a place that holds anything but a mirror.
 */
export async function takeOverMirror(
  { db, clock, random, place }: MirrorParts,
  reconcile: (store: BlobStore) => Promise<void>,
): Promise<boolean | null> {
  const { pair, key } = await ownIdentity(db, random)
  const store = await opened(place, random)
  const found = await markOf(store, place, key)
  if (found === null) await assertEmpty(store, place)
  else if (!found.isMirrors) throw occupied(place)
  const number = Math.max((await stateOf(db))?.given ?? 0, found?.mark?.number ?? 0) + 1
  const series = makeSeries(random)
  const now = clock.now()
  const state: MirrorState = { since: now, series, given: number, number, lookedAt: now }
  await inTransaction(db, (trx) => setMeta(trx, STATE, JSON.stringify(state)))
  await reconcile(store)
  await writeMirrorMark(store, { pair, series, number }, key)
  return found === null ? null : found.mark !== null
}

async function assertNoCopies(db: Database, place: StorePlace): Promise<void> {
  if ((await mirroredAfter(db, { after: null }, 1)).length > 0) throw lost(place)
}

async function opened(place: StorePlace, random: Random): Promise<BlobStore> {
  try {
    if (place.kind === 's3' || !(await holdsOtherThings(place.path))) return await openPlace(place, random)
  } catch (error) {
    throw unreachable(place, error)
  }
  throw occupied(place)
}

async function markOf(store: BlobStore, place: StorePlace, key: string): Promise<FoundMark | null> {
  try {
    return await readMirrorMark(store, key)
  } catch (error) {
    throw unreachable(place, error)
  }
}

function unreachable(place: StorePlace, cause: unknown): MirrorUnusable {
  const reason = inSettingsOf('mirror', cause instanceof Error ? cause.message : String(cause))
  return new MirrorUnusable(`the mirror ${placeName(place)} cannot be reached: ${reason}`, { cause })
}

function lost(place: StorePlace): MirrorUnusable {
  return new MirrorUnusable(
    `there is no mirror in ${placeName(place)}; is it mounted? "holdfast mirror --adopt" begins a new one there`,
  )
}

function foreign(place: StorePlace): MirrorUnusable {
  return new MirrorUnusable(
    `${placeName(place)} is not the mirror of this installation; after a restore or a relocation "holdfast mirror --adopt" takes it over`,
  )
}

function damaged(place: StorePlace): MirrorUnusable {
  return new MirrorUnusable(
    `both copies of the mark of the mirror in ${placeName(place)} are damaged; "holdfast mirror --adopt" makes them anew, with the copies that are there`,
  )
}

function older(place: StorePlace, present: MarkState, known: MarkState): MirrorUnusable {
  return new MirrorUnusable(
    `${placeName(place)} has an older state of the mirror than this installation has seen: its mark is ${stateName(present)}, and ${stateName(known)} was seen before. Bring back what was there, or "holdfast mirror --adopt" goes on with what is there and makes anew what it lacks`,
  )
}

function occupied(place: StorePlace): MirrorUnusable {
  return new MirrorUnusable(
    `there are other things in ${placeName(place)}; name an empty place for the mirror`,
  )
}

async function assertEmpty(store: BlobStore, place: StorePlace): Promise<void> {
  if (await holdsBlobs(store)) throw occupied(place)
}

/**
 * The mark of a mirror: the pair of database and store that it belongs to, a series, and a number that grows with each
 * copy and removal. Authenticated by a key in the database: write access to the mirror does not suffice to forge it.
 */

const FORMAT = 1
const USE = `holdfast mirror mark/${FORMAT}`

const body = z.object({ pair: z.string(), series: z.string(), number: z.int() })
export type MirrorMark = z.infer<typeof body>

const envelope = z.object({ body: z.string(), mac: z.string() })

export async function writeMirrorMark(
  store: Pick<BlobStore, 'writeMark'>,
  mark: MirrorMark,
  key: string,
): Promise<void> {
  const text = JSON.stringify(mark)
  const sealed = withSum('mirror', FORMAT, JSON.stringify({ body: text, mac: macOf(text, key, USE) }))
  for (const copy of COPIES) await store.writeMark(sealed, copy)
}

export interface FoundMark {
  /** The higher number. */
  readonly mark: MirrorMark | null
  /** Authentic or not. */
  readonly isMirrors: boolean
  /** Intact, but written without the key. */
  readonly isForged: boolean
  readonly faults: readonly CopyFault[]
  readonly isTwice: boolean
}

/** Throws StoreFailure. */
export async function readMirrorMark(
  store: Pick<BlobStore, 'readMark'>,
  key: string,
): Promise<FoundMark | null> {
  const copies = await Promise.all(COPIES.map((copy) => readCopy(store, copy, key)))
  if (copies.every(({ kind }) => kind === 'missing')) return null
  const marks = copies.flatMap((copy) => ('mark' in copy ? [copy.mark] : []))
  const [first, second] = marks
  return {
    mark: marks.toSorted((one, other) => other.number - one.number)[0] ?? null,
    isMirrors: copies.some(({ kind }) => kind !== 'missing' && kind !== 'other'),
    isForged: copies.some(({ kind }) => kind === 'forged' || kind === 'other'),
    faults: copies.flatMap((copy) => ('reason' in copy ? [{ copy: copy.copy, reason: copy.reason }] : [])),
    isTwice: second !== undefined && JSON.stringify(first) === JSON.stringify(second),
  }
}

type ReadCopy = { readonly copy: MarkCopy } & (
  | { readonly kind: 'sound'; readonly mark: MirrorMark }
  | { readonly kind: 'missing' | 'damaged' | 'forged' | 'other'; readonly reason: string }
)

async function readCopy(store: Pick<BlobStore, 'readMark'>, copy: MarkCopy, key: string): Promise<ReadCopy> {
  const read = await readCopyText(store, copy, 'mirror')
  if (read.kind === 'other') {
    const reason = 'is no mark of a mirror, or its beginning is damaged'
    return { copy, kind: read.text.startsWith('holdfast-mirror ') ? 'damaged' : 'other', reason }
  }
  if (read.kind !== 'whole') return { copy, ...read }
  const outer = envelope.safeParse(parsedJson(read.json))
  if (!outer.success || !isAuthentic(outer.data.body, outer.data.mac, key, USE)) {
    return { copy, kind: 'forged', reason: 'was not written by this installation' }
  }
  const inner = body.safeParse(parsedJson(outer.data.body))
  if (!inner.success) return { copy, kind: 'damaged', reason: 'is not a whole mark' }
  return { copy, kind: 'sound', mark: inner.data }
}

/** Milliseconds since the oldest content without a copy was stored, or the mirror attached; 0 for none. */
export async function mirrorLag(db: Database, now: number): Promise<number> {
  const [oldest, attached] = await Promise.all([oldestUnmirrored(db), attachedMirror(db)])
  return oldest === null ? 0 : Math.max(0, now - Math.max(oldest, attached?.since ?? 0))
}
