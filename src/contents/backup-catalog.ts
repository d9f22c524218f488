import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod/mini'
import type { MarkCopy } from '../blobs/blob-store.ts'
import { makeMark } from '../core/store/pairing.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import { preconditionFailed } from '../domain/errors.ts'
import { type BlobKey, isBlobKey } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { type BackupKey, type BackupStore, unlockKey } from './backup-encryption.ts'
import {
  COPIES,
  type CopyFault,
  isAuthentic,
  macOf,
  makeSeries,
  parsedJson,
  readCopyText,
  withSum,
} from './mark-copies.ts'
import { hasProcessEnded, ownProcess } from './scratch.ts'

/** The catalog of a backup, stored twice. In an encrypted backup its body is authenticated by the backup's key. */

const FORMAT = 2
const USE = `holdfast backup catalog/${FORMAT}`

const blobKey = z.custom<BlobKey>((text) => typeof text === 'string' && isBlobKey(text))

const point = z.object({
  /** When its rows were read, in milliseconds. */
  takenAt: z.int(),
  key: blobKey,
  size: z.int(),
  sha256: z.string(),
  files: z.int(),
  contents: z.int(),
  bytes: z.int(),
  damaged: z.int(),
})
export type RecoveryPoint = z.infer<typeof point>

const catalog = z.object({
  /** Random, by the installation that began to write here. */
  series: z.string(),
  /** Grows with each change, also across series. */
  number: z.int(),
  mark: z.string(),
  points: z.readonly(z.array(point)),
  /** A killed run may have left contents that no point names. */
  unswept: z.boolean(),
  /** Installation of the newest point; null before the first. */
  installation: z.nullable(z.string()),
  /** Contents that a restore found missing or damaged, to be compared and copied again; `all`: very many. */
  doubted: z.union([z.literal('all'), z.readonly(z.array(blobKey))]),
})
export type Catalog = z.infer<typeof catalog>

/** In the first copy only, and not authenticated: a forged one only delays runs. */
const lease = z.nullable(z.object({ holder: z.string(), process: z.nullable(z.string()), until: z.int() }))
export type Lease = z.infer<typeof lease>

const envelope = z.object({
  /** The contents' key, encrypted by the passphrase; null: not encrypted. */
  lockedKey: z.nullable(z.string()),
  /** The catalog as JSON; the MAC covers its bytes. */
  body: z.string(),
  mac: z.nullable(z.string()),
  lease,
})

export function sealCatalog(present: Catalog, key: BackupKey | null, held: Lease): string {
  const body = JSON.stringify(present)
  const mac = key === null ? null : macOf(body, key.key, USE)
  return withSum(
    'backup',
    FORMAT,
    JSON.stringify({ lockedKey: key?.lockedKey ?? null, body, mac, lease: held }),
  )
}

interface SoundCopy {
  readonly kind: 'sound'
  readonly catalog: Catalog
  readonly body: string
  readonly mac: string | null
  readonly lockedKey: string | null
  readonly lease: Lease
}

type ReadCopy = SoundCopy | { readonly kind: 'missing' | 'newer' | 'damaged'; readonly reason: string }

/** A failure of this object alone counts as damage; throws StoreFailure for any other. */
export async function readCopy(store: Pick<BackupStore, 'readMark'>, copy: MarkCopy): Promise<ReadCopy> {
  const read = await readCopyText(store, copy, 'backup')
  if (read.kind === 'other') return { kind: 'damaged', reason: 'is no catalog, or its beginning is damaged' }
  if (read.kind !== 'whole') return read
  if (read.format > FORMAT) return { kind: 'newer', reason: 'is of a newer version' }
  const outer = envelope.safeParse(parsedJson(read.json))
  const inner = outer.success ? catalog.safeParse(parsedJson(outer.data.body)) : null
  if (!outer.success || inner?.success !== true) return { kind: 'damaged', reason: 'is not a whole catalog' }
  return { kind: 'sound', catalog: inner.data, ...outer.data }
}

interface UsableCopy {
  readonly copy: MarkCopy
  readonly read: SoundCopy
  readonly key: BackupKey | null
}

export interface FoundCatalog {
  readonly catalog: Catalog
  /** Null: the backup is neither encrypted nor authenticated. */
  readonly key: BackupKey | null
  readonly lease: Lease
  readonly faults: readonly CopyFault[]
  readonly isTwice: boolean
}

/** Copies exist, and none is usable. */
export class CatalogLost extends Error {
  override readonly name = 'CatalogLost'
}

/** Reads catalogs with one passphrase. Unlocks each locked key once, since that takes a second. */
export class CatalogReader {
  readonly #store: Pick<BackupStore, 'readMark'>
  readonly #passphrase: string | null
  readonly #keys = new Map<string, Promise<string | null>>()

  constructor(store: Pick<BackupStore, 'readMark'>, passphrase: string | null) {
    this.#store = store
    this.#passphrase = passphrase
  }

  /**
   * The intact copy with the higher number; null for an empty store. Throws Refusal PRECONDITION_FAILED for another
   * version, another passphrase or no backup at all, and CatalogLost.
   */
  async read(): Promise<FoundCatalog | null> {
    const copies = await Promise.all(
      COPIES.map(async (copy) => ({ copy, read: await readCopy(this.#store, copy) })),
    )
    if (copies.every(({ read }) => read.kind === 'missing')) return null
    const faults: CopyFault[] = []
    const sealed: UsableCopy[] = []
    const plain: UsableCopy[] = []
    const sound = copies.flatMap(({ read }) => (read.kind === 'sound' ? [read] : []))
    if (sound.length === 0) this.#assertVersion(copies.map(({ read }) => read.kind))
    for (const { copy, read } of copies) {
      const wrong = read.kind === 'sound' ? await this.#wrong(read) : read.reason
      if (wrong !== null) faults.push({ copy, reason: wrong })
      else if (read.kind === 'sound') {
        const key = await this.#keyOf(read)
        const usable = key === null ? plain : sealed
        usable.push({ copy, read, key })
      }
    }
    // A forged plain copy does not hide an authentic one.
    if (sealed.length > 0) for (const { copy } of plain) faults.push({ copy, reason: 'is not encrypted' })
    const [first, second] = sealed.length > 0 ? sealed : plain
    if (first === undefined) throw await this.#unusable(sound, faults)
    const best =
      second !== undefined && second.read.catalog.number > first.read.catalog.number ? second : first
    const [held] = copies
    return {
      catalog: best.read.catalog,
      key: best.key,
      lease: held?.read.kind === 'sound' ? held.read.lease : null,
      faults,
      isTwice: second !== undefined && second.read.body === first.read.body,
    }
  }

  knows({ lockedKey, key }: BackupKey): void {
    this.#keys.set(lockedKey, Promise.resolve(key))
  }

  #assertVersion(kinds: readonly ReadCopy['kind'][]): void {
    if (kinds.includes('newer')) {
      throw preconditionFailed('this backup is of a newer version of the program: use that one')
    }
  }

  /** Null for a valid copy. */
  async #wrong(read: SoundCopy): Promise<string | null> {
    const { lockedKey, body, mac } = read
    if (this.#passphrase === null) return lockedKey === null ? null : 'is of an encrypted backup'
    if (lockedKey === null) return read.catalog.points.length === 0 ? null : 'is not encrypted'
    const key = await this.#unlocked(lockedKey)
    if (key === null) return 'has another passphrase'
    return mac !== null && isAuthentic(body, mac, key, USE)
      ? null
      : 'was changed by somebody without the passphrase'
  }

  async #keyOf({ lockedKey }: SoundCopy): Promise<BackupKey | null> {
    const key = lockedKey === null || this.#passphrase === null ? null : await this.#unlocked(lockedKey)
    return key === null || lockedKey === null ? null : { key, lockedKey }
  }

  #unlocked(lockedKey: string): Promise<string | null> {
    const passphrase = this.#passphrase ?? ''
    const known = this.#keys.get(lockedKey) ?? unlockKey(lockedKey, passphrase)
    this.#keys.set(lockedKey, known)
    return known
  }

  async #unusable(sound: readonly SoundCopy[], faults: readonly CopyFault[]): Promise<Error> {
    const isLocked = sound.some(({ lockedKey }) => lockedKey !== null)
    if (this.#passphrase === null && isLocked) {
      return preconditionFailed(
        'this backup is encrypted: name the file with its passphrase in HOLDFAST_BACKUP_PASSPHRASE_FILE',
      )
    }
    if (sound.length > 0 && !isLocked) {
      return preconditionFailed(
        'this backup is not encrypted: leave the passphrase out, or begin another backup with it',
      )
    }
    if (faults.some(({ reason }) => reason === 'has another passphrase')) {
      return preconditionFailed('the passphrase is not the one of this backup')
    }
    const told = faults.map(({ copy, reason }) => `${copy} ${reason}`).join('; ')
    return new CatalogLost(`the target is no backup, or its catalog is lost: ${told}`)
  }
}

/**
 * A catalog leased by one run. Stored as the store's mark, which is replaced atomically: a point appears as a whole.
 */

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
