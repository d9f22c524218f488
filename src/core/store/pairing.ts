import * as z from 'zod/mini'
import type { BlobStore } from '../../blobs/blob-store.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockMigrations } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { preconditionFailed } from '../../domain/errors.ts'
import type { Random } from '../../domain/random.ts'
import { metaOf, metaValue, setMeta } from '../meta.rows.ts'

export class WrongStore extends Error {
  override readonly name = 'WrongStore'
}

export const pairMeta = {
  /** Mark that the store must carry. */
  mark: 'store_mark',
  /** Mark seen on the store. Set after `mark`: a start may be interrupted between. */
  marked: 'store_marked',
  generation: 'generation',
  /** Mark that a relocation left on the store it emptied. */
  former: 'former_store_mark',
  /** While a relocation fills this database: mark of its source. */
  relocating: 'relocating',
  /** While a relocation that ends in this database runs: the store's future mark. */
  next: 'next_store_mark',
  /** After a relocation moved the rows: target and time. */
  moved: 'moved_to',
  /** After a relocation moved only the bytes: target. */
  bytesMoved: 'bytes_moved_to',
} as const

const moved = z.object({
  to: z.string(),
  at: z.int(),
  /** The store was left behind too, so both could be served again. */
  isWithBytes: z.boolean(),
})

export async function setMoved(trx: Trx, where: z.infer<typeof moved>): Promise<void> {
  await setMeta(trx, pairMeta.moved, JSON.stringify(where))
}

/** Throws Refusal PRECONDITION_FAILED. */
export async function assertNotMoved(db: Database): Promise<void> {
  const text = await metaOf(db, pairMeta.moved)
  if (text === null) return
  const { to, at, isWithBytes } = moved.parse(JSON.parse(text))
  const again = isWithBytes
    ? '; what is here may be served again, without what came since, after "holdfast takeover" with these settings'
    : ''
  throw preconditionFailed(
    `${isWithBytes ? 'everything was' : 'the rows were'} moved from here to ${to} on ${new Date(at).toISOString()}: start the server with the settings of that place. To go back, move it back with "holdfast relocate" there, as docs/operations/relocate.md says${again}`,
  )
}

export function makeMark(random: Random): string {
  return Buffer.from(random(16)).toString('hex')
}

/** Throws Refusal PRECONDITION_FAILED for a database that a relocation still fills. */
export async function assertWhole(db: Database): Promise<void> {
  if ((await metaOf(db, pairMeta.relocating)) === null) return
  throw preconditionFailed(
    'the database that is configured is being filled by "holdfast relocate" or "holdfast restore" and is not whole yet; run that again with the settings it began with, and it goes on',
  )
}

/**
 * Database and store carry one random mark, written when they first meet; returns it. Concurrent nodes are serialized.
 * Throws WrongStore, and Refusal for a database that is not whole, or was moved unless it `mayBeMoved`.
 */
export async function assertPaired(
  db: Database,
  blobs: Marked,
  random: Random,
  { mayBeMoved = false } = {},
): Promise<string> {
  await assertWhole(db)
  if (!mayBeMoved) await assertNotMoved(db)
  const wanted = await metaValue(db, pairMeta.mark, () => makeMark(random))
  await inTransaction(db, async (trx) => {
    await lockMigrations(trx)
    const present = (await readStoreMark(blobs))?.mark ?? null
    if (present === wanted) return
    if (present !== null && present === (await metaOf(trx, pairMeta.former))) {
      const to = await metaOf(trx, pairMeta.bytesMoved)
      throw new WrongStore(
        `the files of this database were moved away from the store that is configured${to === null ? '' : ` to ${to}`}; configure the one that they were moved to, and to go back move them back with "holdfast relocate"`,
      )
    }
    if (present !== null) {
      throw new WrongStore(
        'the store that is configured belongs to another database; configure that database, or an empty store',
      )
    }
    if ((await metaOf(trx, pairMeta.marked)) !== null) {
      throw new WrongStore(
        'the store that is configured is not the one in which this database keeps its files; is its folder mounted? Configure that one, or move the files with "holdfast relocate"',
      )
    }
    await writeStoreMark(blobs, { mark: wanted, generation: 0 })
    await setMeta(trx, pairMeta.marked, wanted)
  })
  return wanted
}

/** Without writing. Throws WrongStore, and the store's error, after which its answers about bytes mean nothing. */
export async function assertOwnStore(db: Database, blobs: Marked): Promise<void> {
  const present = (await readStoreMark(blobs))?.mark ?? null
  if (present !== null && present === (await metaOf(db, pairMeta.mark))) return
  throw new WrongStore(
    'the mark of the store is not that of its database, so nothing that is missing there counts as lost; is the right folder mounted?',
  )
}

export type Marked = Pick<BlobStore, 'readMark' | 'writeMark'>

interface StoreMark {
  readonly mark: string
  readonly generation: number
}

/** Null for a store without a mark. A mark without a generation was written before the first start was counted. */
export async function readStoreMark(blobs: Pick<Marked, 'readMark'>): Promise<StoreMark | null> {
  const text = await blobs.readMark()
  if (text === null) return null
  const [mark = '', generation = '0'] = text.trim().split(' ')
  return { mark, generation: Number(generation) || 0 }
}

export function writeStoreMark(blobs: Marked, { mark, generation }: StoreMark): Promise<void> {
  return blobs.writeMark(generation === 0 ? mark : `${mark} ${generation}`)
}

export interface Installation {
  readonly db: Database
  readonly blobs: BlobStore
  /** Several servers may use the database, without another lock between them. */
  readonly isShared: boolean
}
