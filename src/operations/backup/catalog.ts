/**
 * A catalog leased by one run. Stored as the store's mark, which is replaced atomically: a point appears as a whole.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { makeMark } from '../../core/store/pairing.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { preconditionFailed } from '../../domain/errors.ts'
import type { BlobKey } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { COPIES, type CopyFault, makeSeries } from '../mark-copies.ts'
import type { BackupStore } from './backup-store.ts'
import {
  type Catalog,
  CatalogLost,
  type CatalogReader,
  type FoundCatalog,
  type Lease,
  readCopy,
  sealCatalog,
} from './catalog-copies.ts'
import type { BackupKey } from './encryption.ts'
import { hasProcessEnded, ownProcess } from './own-process.ts'

export type { Catalog, RecoveryPoint } from './catalog-copies.ts'

/** A run killed on another machine delays the next one by this. */
const LEASE = 20 * SECOND
const RENEWED_EVERY = 5 * SECOND
/** Two runs that begin at once see each other after this. */
const SETTLES_WITHIN = SECOND / 2

/** The catalog is read and written as a whole. */
const MOST_DOUBTED = 10_000

export function addDoubted(present: Catalog['doubted'], keys: readonly BlobKey[]): Catalog['doubted'] {
  if (present === 'all') return present
  const both = [...new Set([...present, ...keys])]
  return both.length > MOST_DOUBTED ? 'all' : both
}

export interface HeldCatalog {
  readonly present: Catalog
  readonly key: string | null
  readonly faults: readonly CopyFault[]
  readonly isNew: boolean
  /** Replaces the catalog under the next number. Throws Refusal PRECONDITION_FAILED when the lease was lost. */
  change(change: Partial<Omit<Catalog, 'number' | 'mark'>>): Promise<void>
  /** Throws Refusal PRECONDITION_FAILED when the lease was lost. */
  assertHeld(): Promise<void>
  release(): Promise<void>
}

interface Holding {
  readonly store: BackupStore
  readonly reader: CatalogReader
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  /** Called without a catalog, or without one that has both a point and a key. */
  readonly makeKey: () => Promise<BackupKey | null>
  /** Whether to make one also where neither copy is readable. */
  readonly replacesLost: boolean
  readonly onWait: () => void
}

/** Waits for the lease of another run to end or expire. Throws what `CatalogReader.read` throws. */
export async function holdCatalog(holding: Holding): Promise<HeldCatalog> {
  const { store, reader, clock, random, signal, replacesLost, onWait } = holding
  const holder = Buffer.from(random(12)).toString('hex')
  let isNew = false
  const claimed = await claim()
  const { key, faults } = claimed
  let present = claimed.catalog
  let isLost = false
  let writing: Promise<unknown> = Promise.resolve()
  if (!claimed.isTwice) await store.writeMark(sealCatalog(present, key, null), 'mark-copy')
  const timer = setInterval(() => void write(null).catch(() => {}), RENEWED_EVERY)

  async function found(): Promise<FoundCatalog> {
    const there = await reader.read().catch((error: unknown) => {
      if (replacesLost && error instanceof CatalogLost) return null
      throw error
    })
    const needsKey = there !== null && there.key === null && there.catalog.points.length === 0
    const made = there === null || needsKey ? await holding.makeKey() : null
    if (there !== null && made === null) return there
    if (made !== null) reader.knows(made)
    isNew = true
    const series = makeSeries(random)
    const empty = { points: [], unswept: false, installation: null, doubted: [] } as const
    const begun = { series, number: (there?.catalog.number ?? 0) + 1, mark: makeMark(random), ...empty }
    return { catalog: begun, key: made, lease: there?.lease ?? null, faults: [], isTwice: false }
  }

  async function claim(): Promise<FoundCatalog> {
    let hasWaited = false
    for (;;) {
      const there = await found()
      const { lease } = there
      if (lease === null || lease.until <= clock.now() || hasProcessEnded(lease.process)) {
        await store.writeMark(sealCatalog(there.catalog, there.key, newLease()), 'mark')
        await pause(SETTLES_WITHIN)
        const now = await reader.read()
        if (now?.lease?.holder === holder) {
          return { ...now, faults: there.faults }
        }
      }
      isNew = false
      if (!hasWaited) onWait()
      hasWaited = true
      await pause(SECOND, null, { signal })
    }
  }

  function newLease(): Lease {
    return { holder, process: ownProcess(), until: clock.now() + LEASE }
  }

  /** Serialized. Null renews only the lease. */
  function write(change: Partial<Catalog> | null, lease: () => Lease = newLease): Promise<void> {
    const turn = writing.then(async () => {
      const now = await readCopy(store, 'mark')
      // A damaged copy is replaced; a missing one may mean an unmounted disk.
      isLost ||= now.kind !== 'damaged' && !(now.kind === 'sound' && now.lease?.holder === holder)
      if (isLost) {
        throw preconditionFailed(
          'this run stood still for so long that another one took the backup over; run it again',
        )
      }
      if (change !== null) present = { ...present, ...change, number: present.number + 1 }
      await store.writeMark(sealCatalog(present, key, lease()), 'mark')
      if (change !== null) await store.writeMark(sealCatalog(present, key, null), 'mark-copy')
    })
    writing = turn.catch(() => {})
    return turn
  }

  return {
    get present() {
      return present
    },
    key: key?.key ?? null,
    faults,
    isNew,
    change: write,
    assertHeld: () => write(null),
    async release() {
      clearInterval(timer)
      await write(null, () => null).catch(() => {})
    },
  }
}

/** Whether the store has a catalog, even an unusable one. Throws StoreFailure. */
export async function hasCatalog(store: Pick<BackupStore, 'readMark'>): Promise<boolean> {
  const copies = await Promise.all(COPIES.map((copy) => readCopy(store, copy)))
  return copies.some(({ kind }) => kind !== 'missing')
}
