/**
 * The catalog of a backup: its points in time, and who works on it. It is the mark of the backup's store, which is replaced
 * as a whole, so a point is there from one moment to the next.
 */
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod/mini'
import { makeMark } from '../../core/store/pairing.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { type BlobKey, isBlobKey } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { parsedJson } from '../parsed-json.ts'
import type { BackupStore } from './backup-store.ts'
import { hasProcessEnded, ownProcess } from './own-process.ts'

const FORMAT = 1

const blobKey = z.custom<BlobKey>((text) => typeof text === 'string' && isBlobKey(text))

const point = z.object({
  /** When its rows were read, in milliseconds. */
  takenAt: z.int(),
  /** Where its rows are in the backup's store, packed: their size there, and their SHA-256. */
  key: blobKey,
  size: z.int(),
  sha256: z.string(),
  files: z.int(),
  contents: z.int(),
  bytes: z.int(),
  /** Contents that were missing or damaged already. */
  damaged: z.int(),
})
export type RecoveryPoint = z.infer<typeof point>

const catalog = z.object({
  holdfastBackup: z.literal(FORMAT),
  /** Ties a restore that was begun to this backup. */
  mark: z.string(),
  /** The oldest first. */
  points: z.readonly(z.array(point)),
  /** The key that contents are encrypted with, itself encrypted by the passphrase; null: they are not encrypted. */
  lockedKey: z.nullable(z.string()),
  /** Whether contents that no point names any more may be left, because a run was killed before it had removed them. */
  unswept: z.boolean(),
  /** Mark of the installation that the newest point is of; missing in backups of an earlier version. */
  installation: z.optional(z.string()),
  /**
   * Contents of which a restore found that they are missing or damaged here, to be compared and copied anew; `all` where they
   * are very many. Missing in backups of an earlier version.
   */
  doubted: z.optional(z.union([z.literal('all'), z.readonly(z.array(blobKey))])),
  /** Who works on the backup, and until when unless it is renewed. */
  lease: z.nullable(z.object({ holder: z.string(), process: z.nullable(z.string()), until: z.int() })),
})
export type Catalog = z.infer<typeof catalog>

const NEW = { holdfastBackup: FORMAT, points: [], lockedKey: null, unswept: false, lease: null } as const

/** A run that was killed on another machine holds up the next one for so long. */
const LEASE = 20 * SECOND
const RENEWED_EVERY = 5 * SECOND
/** Two that begin at once see each other after this. */
const SETTLES_WITHIN = SECOND / 2

/** The catalog is read and written as a whole. */
const MOST_DOUBTED = 10_000

/** `doubted` with these keys added. */
export function addDoubted(present: Catalog['doubted'] = [], keys: readonly BlobKey[]): Catalog['doubted'] {
  if (present === 'all') return present
  const both = [...new Set([...present, ...keys])]
  return both.length > MOST_DOUBTED ? 'all' : both
}

/** Null for an empty store. Throws Refusal PRECONDITION_FAILED for one that is no backup. */
export async function readCatalog(store: BackupStore): Promise<Catalog | null> {
  const text = await store.readMark()
  if (text === null) return null
  const read = catalog.safeParse(parsedJson(text))
  if (read.success) return read.data
  throw new Refusal(
    'PRECONDITION_FAILED',
    'the target is no backup, or one of a newer version: name a folder or bucket of its own',
  )
}

/** A catalog that this process alone works on. */
export interface HeldCatalog {
  readonly present: Catalog
  /** Replaces the catalog. Throws Refusal PRECONDITION_FAILED when the lease was lost. */
  change(
    change: Partial<Pick<Catalog, 'points' | 'lockedKey' | 'unswept' | 'installation' | 'doubted'>>,
  ): Promise<void>
  /** Throws Refusal PRECONDITION_FAILED when the lease was lost. */
  assertHeld(): Promise<void>
  /** Lets others work on it. */
  release(): Promise<void>
}

interface Holding {
  readonly store: BackupStore
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  /** Called once when another run has to end first. */
  readonly onWait: () => void
}

/** Waits until nobody else works on the backup, or was killed while it did. */
export async function holdCatalog({ store, clock, random, signal, onWait }: Holding): Promise<HeldCatalog> {
  const holder = Buffer.from(random(12)).toString('hex')
  let present = await claim()
  let isLost = false
  let writing: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => void write({}).catch(() => {}), RENEWED_EVERY)

  async function claim(): Promise<Catalog> {
    let hasWaited = false
    for (;;) {
      const found = (await readCatalog(store)) ?? { ...NEW, mark: makeMark(random) }
      if (found.lease === null || found.lease.until <= clock.now() || hasProcessEnded(found.lease.process)) {
        await store.writeMark(JSON.stringify({ ...found, lease: lease() }))
        await pause(SETTLES_WITHIN)
        const now = await readCatalog(store)
        if (now?.lease?.holder === holder) return now
      }
      if (!hasWaited) onWait()
      hasWaited = true
      await pause(SECOND, null, { signal })
    }
  }

  function lease(): Catalog['lease'] {
    return { holder, process: ownProcess(), until: clock.now() + LEASE }
  }

  /** One after another: each replaces what the one before has written. */
  function write(change: Partial<Catalog>): Promise<void> {
    const turn = writing.then(async () => {
      const now = await readCatalog(store)
      isLost ||= now?.lease?.holder !== holder
      if (isLost) {
        throw new Refusal(
          'PRECONDITION_FAILED',
          'this run stood still for so long that another one took the backup over; run it again',
        )
      }
      present = { ...present, lease: lease(), ...change }
      await store.writeMark(JSON.stringify(present))
    })
    writing = turn.catch(() => {})
    return turn
  }

  return {
    get present() {
      return present
    },
    change: write,
    assertHeld: () => write({}),
    async release() {
      clearInterval(timer)
      await write({ lease: null }).catch(() => {})
    },
  }
}
