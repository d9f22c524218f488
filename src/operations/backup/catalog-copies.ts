/**
 * The catalog of a backup as it lies in the store, twice. In an encrypted backup its body is authenticated by the key of the
 * backup.
 */
import * as z from 'zod/mini'
import type { MarkCopy } from '../../blobs/blob-store.ts'
import { preconditionFailed } from '../../domain/errors.ts'
import { type BlobKey, isBlobKey } from '../../domain/ids.ts'
import { COPIES, type CopyFault, isAuthentic, macOf, readCopyText, withSum } from '../mark-copies.ts'
import { parsedJson } from '../parsed-json.ts'
import type { BackupStore } from './backup-store.ts'
import { type BackupKey, unlockKey } from './encryption.ts'

const FORMAT = 2
const USE = `holdfast backup catalog/${FORMAT}`

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
  /** Drawn by the installation that began to write here. */
  series: z.string(),
  /** Greater after each change, also across series. */
  number: z.int(),
  /** Ties a restore that was begun to this backup. */
  mark: z.string(),
  /** The oldest first. */
  points: z.readonly(z.array(point)),
  /** Whether contents that no point names any more may be left, because a run was killed before it had removed them. */
  unswept: z.boolean(),
  /** Mark of the installation that the newest point is of; null before the first. */
  installation: z.nullable(z.string()),
  /**
   * Contents of which a restore found that they are missing or damaged here, to be compared and copied anew; `all` where they
   * are very many.
   */
  doubted: z.union([z.literal('all'), z.readonly(z.array(blobKey))]),
})
export type Catalog = z.infer<typeof catalog>

/**
 * Who works on the backup, and until when unless it is renewed. In the first copy alone, and not authenticated: it holds up
 * runs and no more.
 */
const lease = z.nullable(z.object({ holder: z.string(), process: z.nullable(z.string()), until: z.int() }))
export type Lease = z.infer<typeof lease>

const envelope = z.object({
  /** The key that contents are encrypted with, itself encrypted by the passphrase; null: they are not encrypted. */
  lockedKey: z.nullable(z.string()),
  /** The catalog as JSON, whose bytes are authenticated. */
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

type ReadCopy =
  | SoundCopy
  | { readonly kind: 'missing' | 'old' | 'newer' }
  | { readonly kind: 'damaged'; readonly reason: string }

/** Reads one copy. A failure that concerns this object alone is damage of it; throws StoreFailure for any other. */
export async function readCopy(store: Pick<BackupStore, 'readMark'>, copy: MarkCopy): Promise<ReadCopy> {
  const read = await readCopyText(store, copy, 'backup')
  if (read.kind === 'other') {
    const isOld = z.object({ holdfastBackup: z.literal(1) }).safeParse(parsedJson(read.text)).success
    return isOld ? { kind: 'old' } : { kind: 'damaged', reason: 'is no catalog, or its beginning is damaged' }
  }
  if (read.kind !== 'whole') return read
  if (read.format > FORMAT) return { kind: 'newer' }
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
  /** Null: the backup is not encrypted, and nothing in it is authenticated. */
  readonly key: BackupKey | null
  readonly lease: Lease
  readonly faults: readonly CopyFault[]
  /** Whether both copies are sound and the same. */
  readonly isTwice: boolean
}

/** Thrown where copies are there, and none of them can be used. */
export class CatalogLost extends Error {
  override readonly name = 'CatalogLost'
}

/** Reads catalogs with one passphrase; each locked key is unlocked once, since that takes a second. */
export class CatalogReader {
  readonly #store: Pick<BackupStore, 'readMark'>
  readonly #passphrase: string | null
  readonly #keys = new Map<string, Promise<string | null>>()

  constructor(store: Pick<BackupStore, 'readMark'>, passphrase: string | null) {
    this.#store = store
    this.#passphrase = passphrase
  }

  /**
   * The sound copy with the higher number; null for an empty store. Throws Refusal PRECONDITION_FAILED for what is no backup of
   * this version or has another passphrase, and CatalogLost.
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
      const wrong = read.kind === 'sound' ? await this.#wrong(read) : faultOf(read)
      if (wrong !== null) faults.push({ copy, reason: wrong })
      else if (read.kind === 'sound') {
        const key = await this.#keyOf(read)
        const usable = key === null ? plain : sealed
        usable.push({ copy, read, key })
      }
    }
    // An empty one that anybody can write does not hide one that is authentic.
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

  /** Spares the unlocking of a key that was just made. */
  knows({ lockedKey, key }: BackupKey): void {
    this.#keys.set(lockedKey, Promise.resolve(key))
  }

  #assertVersion(kinds: readonly ReadCopy['kind'][]): void {
    if (kinds.includes('old')) {
      throw preconditionFailed(
        'this backup was made before version 0.1.0, whose format is not read any more: begin another one in a place of its own. The program that made this one restores it',
      )
    }
    if (kinds.includes('newer')) {
      throw preconditionFailed('this backup is of a newer version of the program: use that one')
    }
  }

  /** Why the copy counts for nothing; null where it counts. */
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

function faultOf(read: Exclude<ReadCopy, SoundCopy>): string {
  switch (read.kind) {
    case 'missing':
      return 'is missing'
    case 'damaged':
      return read.reason
    case 'old':
      return 'is of a backup before version 0.1.0'
    case 'newer':
      return 'is of a newer version'
  }
}
