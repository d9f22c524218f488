/** The catalog of a backup, stored twice. In an encrypted backup its body is authenticated by the backup's key. */
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

type ReadCopy =
  | SoundCopy
  | { readonly kind: 'missing' | 'newer' }
  | { readonly kind: 'damaged'; readonly reason: string }

/** A failure of this object alone counts as damage; throws StoreFailure for any other. */
export async function readCopy(store: Pick<BackupStore, 'readMark'>, copy: MarkCopy): Promise<ReadCopy> {
  const read = await readCopyText(store, copy, 'backup')
  if (read.kind === 'other') return { kind: 'damaged', reason: 'is no catalog, or its beginning is damaged' }
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
      const wrong = read.kind === 'sound' ? await this.#wrong(read) : faultOf(read)
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

function faultOf(read: Exclude<ReadCopy, SoundCopy>): string {
  switch (read.kind) {
    case 'missing':
      return 'is missing'
    case 'damaged':
      return read.reason
    case 'newer':
      return 'is of a newer version'
  }
}
