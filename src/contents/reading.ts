/** Reads one content: hashes it, copies it, and tells damage of it from a failure of the store. */
import {
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  eachChunk,
  isUnreadable,
  readInto,
  StoreFailure,
} from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import type { Damage, Row } from '../database/schema.ts'
import type { BlobKey } from '../domain/ids.ts'
import { type BlobRow, findContent, otherContents } from './contents.rows.ts'
import type { Throttle } from './pace.ts'

export type StoredContent = Row<'blobs', 'key' | 'size' | 'sha256'>

export interface Reading {
  readonly throttle?: Throttle | undefined
  readonly signal?: AbortSignal
  readonly onChunk?: (bytes: number) => void
  readonly store?: (bytes: Uint8Array) => Promise<void>
  /** Whether every failure of a body, unless the store is unavailable, is damage of this content. */
  readonly isLenient?: boolean
}

/**
 * Reads and hashes a whole content; null for the bytes of its row. Memory use is independent of the size. Throws what
 * the store, `throttle` and `store` throw otherwise.
 */
export async function readDamage(
  from: Pick<BlobStore, 'read'>,
  content: StoredContent,
  { throttle, signal, onChunk, store, isLenient = false }: Reading = {},
): Promise<Damage | null> {
  const hash = new Bun.CryptoHasher('sha256')
  let read = 0
  try {
    for await (const chunk of bytesOf(from, content, isLenient)) {
      signal?.throwIfAborted()
      await throttle?.(chunk.byteLength)
      hash.update(chunk)
      await store?.(chunk)
      onChunk?.(chunk.byteLength)
      read += chunk.byteLength
    }
    if (read !== content.size) return 'size'
    return hash.digest('hex') === content.sha256 ? null : 'hash'
  } catch (error) {
    if (error instanceof SourceDamaged) return error.damage
    throw error
  }
}

/**
 * Copies a content to a fresh key; durable when it returns. Returns the damage of the source; then, and after an
 * error, no copy is left.
 */
export async function copyContent(
  from: Pick<BlobStore, 'read'>,
  content: StoredContent,
  to: Pick<BlobStore, 'create'>,
  key: BlobKey,
  reading: Omit<Reading, 'store'>,
): Promise<Damage | null> {
  const writer = await to.create(key)
  try {
    const damage = await readDamage(from, content, { ...reading, store: (bytes) => writer.write(bytes) })
    if (damage === null) await writer.complete()
    else await writer.abort()
    return damage
  } catch (error) {
    await writer.abort()
    throw error
  }
}

class SourceDamaged extends Error {
  override readonly name = 'SourceDamaged'

  constructor(
    readonly damage: Damage,
    options: ErrorOptions,
  ) {
    super('the content is damaged', options)
  }
}

async function* bytesOf(
  from: Pick<BlobStore, 'read'>,
  { key, size }: StoredContent,
  isLenient: boolean,
): AsyncGenerator<Uint8Array> {
  let isOpen = false
  try {
    const body = await from.read(key, 0, size, size)
    isOpen = true
    yield* eachChunk(body)
  } catch (cause) {
    const isOfStore = cause instanceof StoreFailure && cause.reason !== 'broken'
    const damage = damageOf(cause) ?? (isOpen && isLenient && !isOfStore ? 'unreadable' : null)
    throw damage === null ? cause : new SourceDamaged(damage, { cause })
  }
}

function damageOf(error: unknown): Damage | null {
  if (error instanceof BlobMissing) return 'missing'
  if (error instanceof BlobDamaged) return 'size'
  return isUnreadable(error) ? 'unreadable' : null
}

export async function sizeDamage(
  blobs: Pick<BlobStore, 'size'>,
  { key, size }: Pick<StoredContent, 'key' | 'size'>,
): Promise<Damage | null> {
  try {
    const found = await blobs.size(key)
    if (found === null) return 'missing'
    return found === size ? null : 'size'
  } catch (error) {
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

const SOME = 64 * 1024

/** The disk fails for every content: no content is damaged. */
export class StoreUnreadable extends StoreFailure {
  override readonly name = 'StoreUnreadable'

  constructor(tried: number, options?: ErrorOptions) {
    super('away', options)
    this.message = `the store cannot be read: the disk fails with one content and with ${tried} others, so none of them counts as damaged`
  }
}

/** Throws StoreUnreadable unless the beginning of one of `others` can be read; does nothing without others. */
export async function assertReadable(
  store: Pick<BlobStore, 'read'>,
  others: readonly { readonly key: BlobKey; readonly size: number }[],
): Promise<void> {
  let cause: unknown = null
  for (const { key, size } of others) {
    try {
      return await readInto(store, key, 0, new Uint8Array(Math.min(size, SOME)), size)
    } catch (error) {
      cause = error
    }
  }
  if (others.length > 0) throw new StoreUnreadable(others.length, { cause })
}

export interface DamagedBlob {
  readonly content: BlobRow
  readonly damage: Damage
}

/** Two looks agree; `damage` is null for a sound content. */
export interface InspectedBlob {
  readonly content: BlobRow
  readonly damage: Damage | null
}

export function isDamagedBlob(seen: InspectedBlob | null): seen is DamagedBlob {
  return seen !== null && seen.damage !== null
}

/**
 * Looks a second time, with a fresh row: meanwhile the content may have been deleted, or uploaded again under
 * another key. Throws StoreUnreadable where the store can read no other content either.
 */
export async function confirmed(
  { db, blobs }: { readonly db: Database; readonly blobs: Pick<BlobStore, 'read'> },
  content: BlobRow,
  look: (content: BlobRow) => Promise<Damage | null>,
): Promise<InspectedBlob | null> {
  if ((await look(content)) === null) return { content, damage: null }
  const now = await findContent(db, content.id)
  if (now === undefined) return null
  const damage = await look(now)
  if (damage === null) return { content: now, damage: null }
  if (damage === 'unreadable') await assertReadable(blobs, await otherContents(db, now.id, 'key'))
  const still = await findContent(db, content.id)
  return still?.key === now.key ? { content: now, damage } : null
}

/** Whether to read this content, by four random bytes: each run reads others. */
export function isChosen(chance: Uint8Array, share: number): boolean {
  const [a = 0, b = 0, c = 0, d = 0] = chance
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32 < share
}
