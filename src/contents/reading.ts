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
import type { Damage } from '../database/schema.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { type BlobRow, contentsAfter, findContent, otherContents } from './contents.rows.ts'
import { type Throttle, unthrottled } from './pace.ts'

/** Reads and hashes the whole content; null when it is sound. Throws what the store throws otherwise. */
export async function readDamage(
  blobs: Pick<BlobStore, 'read'>,
  { key, size, sha256 }: Pick<BlobRow, 'key' | 'size' | 'sha256'>,
  throttle: Throttle = unthrottled,
): Promise<Damage | null> {
  const hash = new Bun.CryptoHasher('sha256')
  let read = 0
  try {
    for await (const chunk of eachChunk(await blobs.read(key, 0, size, size))) {
      hash.update(chunk)
      read += chunk.length
      await throttle(chunk.length)
    }
  } catch (error) {
    if (error instanceof BlobMissing) return 'missing'
    if (error instanceof BlobDamaged) return 'size'
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
  if (read !== size) return 'size'
  return hash.digest('hex') === sha256 ? null : 'hash'
}

export async function sizeDamage(
  blobs: Pick<BlobStore, 'size'>,
  { key, size }: Pick<BlobRow, 'key' | 'size'>,
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

const BATCH = 200
const SIDE_BY_SIDE = 16
const READ_SIDE_BY_SIDE = 2

export interface DamagedBlob {
  readonly content: BlobRow
  readonly damage: Damage
}

export interface BatchInspection {
  readonly contents: readonly BlobRow[]
  readonly wrong: readonly DamagedBlob[]
  readonly sound: readonly BlobRow[]
  readonly bytesRead: number
}

export interface Inspection {
  readonly db: Database
  readonly blobs: BlobStore
  readonly random: Random
  /** Share of contents to read, 0 to 1. Contents marked as damaged are always read. */
  readonly share: number
  readonly throttle: Throttle
}

export async function* inspectContents(look: Inspection): AsyncGenerator<BatchInspection> {
  let last: BlobId | null = null
  for (;;) {
    const contents: BlobRow[] = await contentsAfter(look.db, last, BATCH)
    const found = contents.at(-1)
    if (found === undefined) return
    last = found.id
    yield await inspectBatch(look, contents)
  }
}

async function inspectBatch(look: Inspection, contents: readonly BlobRow[]): Promise<BatchInspection> {
  const { blobs, random, share, throttle } = look
  const chosen = contents.filter(({ damage }) => damage !== null || isChosen(random(4), share))
  const bySize = await mapConcurrently(contents, SIDE_BY_SIDE, (content) =>
    confirmed(look, content, (row) => sizeDamage(blobs, row)),
  )
  const wrong = bySize.filter(isWrong)
  const known = new Set(wrong.map(({ content }) => content.id))
  const unknown = chosen.filter(({ id }) => !known.has(id))
  const byHash = await mapConcurrently(unknown, READ_SIDE_BY_SIDE, (content) =>
    confirmed(look, content, (row) => readDamage(blobs, row, throttle)),
  )
  return {
    contents,
    wrong: [...wrong, ...byHash.filter(isWrong)],
    sound: byHash.filter((found) => !isWrong(found)).map(({ content }) => content),
    bytesRead: unknown.reduce((sum, { size }) => sum + size, 0),
  }
}

/** Two looks agree; `damage` is null for a sound content. */
export interface InspectedBlob {
  readonly content: BlobRow
  readonly damage: Damage | null
}

function isWrong(seen: InspectedBlob): seen is DamagedBlob {
  return seen.damage !== null
}

/** Each run reads other contents. */
export function isChosen(chance: Uint8Array, share: number): boolean {
  const [a = 0, b = 0, c = 0, d = 0] = chance
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32 < share
}

/**
 * Looks a second time, with a fresh row: meanwhile the content may have been deleted, or uploaded again under
 * another key. Throws StoreUnreadable where the store can read no other content either.
 */
export async function confirmed(
  { db, blobs }: Pick<Inspection, 'db' | 'blobs'>,
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

async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result | null>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = items.values()
  async function run(): Promise<void> {
    for (const item of left) {
      const result = await work(item)
      if (result !== null) results.push(result)
    }
  }
  await Promise.all(Array.from({ length: width }, run))
  return results
}
