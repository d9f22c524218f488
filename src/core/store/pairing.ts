import * as z from 'zod/mini'
import type { Database, Trx } from '../../database/database.ts'
import { lockMigrations } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { preconditionFailed, Refusal } from '../../domain/errors.ts'
import type { Random } from '../../domain/random.ts'
import { metaOf, metaValue, setMeta } from '../meta.rows.ts'
import { type Marked, readStoreMark, writeStoreMark } from './store-mark.ts'

export class WrongStore extends Error {
  override readonly name = 'WrongStore'
}

/** Keys in `meta` that tie a database to its store. */
export const pairMeta = {
  /** Mark that the store has to carry. */
  mark: 'store_mark',
  /** Mark that the store was seen to carry. Set after `mark`: a start may be interrupted between the two. */
  marked: 'store_marked',
  /** Generation of the database: see generations.ts. */
  generation: 'generation',
  /** Mark that a relocation leaves on the store from which it has moved the bytes away. */
  former: 'former_store_mark',
  /** Present while a relocation fills this database: the mark of the pair that it copies. */
  relocating: 'relocating',
  /**
   * Present while a relocation that ends in this database is under way: the mark that the store will have to
   * carry.
   */
  next: 'next_store_mark',
  /** Present where a relocation has moved the rows to another database: where to, and when. */
  moved: 'moved_to',
  /** Where a relocation has moved the bytes of this database, which stayed. */
  bytesMoved: 'bytes_moved_to',
} as const

const moved = z.object({
  to: z.string(),
  at: z.int(),
  /** Whether the store was left behind too, so that both could be served again. */
  isWithBytes: z.boolean(),
})

/** Marks a database as moved. From then on `assertNotMoved` refuses it. */
export async function setMoved(trx: Trx, where: z.infer<typeof moved>): Promise<void> {
  await setMeta(trx, pairMeta.moved, JSON.stringify(where))
}

/** Throws Refusal PRECONDITION_FAILED for a database whose rows were moved to another one. */
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

/** A random mark, so that no two pairs share one. */
export function makeMark(random: Random): string {
  return Buffer.from(random(16)).toString('hex')
}

/** Throws Refusal PRECONDITION_FAILED for a database that an unfinished relocation is filling. */
export async function assertWhole(db: Database): Promise<void> {
  if ((await metaOf(db, pairMeta.relocating)) === null) return
  throw new Refusal(
    'PRECONDITION_FAILED',
    'the database that is configured is being filled by "holdfast relocate" or "holdfast restore" and is not whole yet; run that again with the settings it began with, and it goes on',
  )
}

/**
 * Makes sure that database and store belong together: both carry the same random mark, written when they
 * first meet. Returns the mark. Nodes that start together are serialized. Throws WrongStore, and Refusal for a database that is
 * not whole, or was moved unless it `mayBeMoved`.
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

/**
 * Makes sure, without writing, that the store is there and is the database's own. Throws WrongStore, and what the store
 * throws when its mark cannot be read: nothing that a store says about its bytes counts then.
 */
export async function assertOwnStore(db: Database, blobs: Marked): Promise<void> {
  const present = (await readStoreMark(blobs))?.mark ?? null
  if (present !== null && present === (await metaOf(db, pairMeta.mark))) return
  throw new WrongStore(
    'the mark of the store is not that of its database, so nothing that is missing there counts as lost; is the right folder mounted?',
  )
}
