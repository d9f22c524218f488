/** Whose a relocation's target is: nobody's yet, or its own from before it was interrupted. Never anybody else's. */
import type { BlobStore } from '../blobs/blob-store.ts'
import { holdsNothing } from '../database/copying.ts'
import { metaOf, setMeta } from '../database/meta.ts'
import { isBlank, migrate } from '../database/migrate.ts'
import { dropRelocatedBlobs, makeRelocatedBlobs } from '../database/relocated-blobs.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { Refusal } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'
import { generationsOf, isBehind } from './generations.ts'
import { type Move, movesOf } from './installation.ts'
import { assertPaired, makeMark, pairMeta } from './pairing.ts'
import { readStoreMark, writeStoreMark } from './store-mark.ts'

export type Claim =
  /** All was there already and the store given to the new database, when something stopped the last step. */
  | 'only the last step is missing'
  | 'begun'
  /** Some of the bytes are there from an earlier run. */
  | 'goes on'

/**
 * Makes the target this relocation's own. From then on the target's store belongs to no database that is served, and
 * the target's database, where rows move, is not served. Throws Refusal PRECONDITION_FAILED for a target that is in
 * use, and what `migrate` and `assertPaired` throw.
 */
export async function claimTarget(move: Move, random: Random): Promise<Claim> {
  const { source, target } = move
  const moves = movesOf(move)
  if (await isBlank(source.db)) {
    throw new Refusal(
      'PRECONDITION_FAILED',
      'there is nothing to move: the database that is configured is empty',
    )
  }
  await migrate(source.db)
  if (moves.rows) {
    if (await isAllButOver(move)) return 'only the last step is missing'
    await assertFree(move)
    await migrate(target.db)
  }
  await assertPaired(source.db, source.blobs, random)
  await assertCounts(source)
  const origin = await metaOf(source.db, pairMeta.mark)
  if (origin === null) throw new Error('a database that is paired has no mark')

  if (moves.bytes && (await isOwnStore(target.db, target.blobs))) return 'goes on'
  const next = makeMark(random)
  await inTransaction(target.db, async (trx) => {
    if (moves.rows) await setMeta(trx, pairMeta.relocating, origin)
    await setMeta(trx, pairMeta.next, next)
    // Whatever is remembered was found in another store.
    await dropRelocatedBlobs(trx)
    if (moves.bytes) await makeRelocatedBlobs(trx)
  })
  if (moves.bytes) await writeStoreMark(target.blobs, { mark: next, generation: 0 })
  return 'begun'
}

/** A copy of the database must not lead away, or take over, what may be another's. */
async function assertCounts({ db, blobs }: Move['source']): Promise<void> {
  if (!isBehind(await generationsOf(db, blobs))) return
  throw new Refusal(
    'PRECONDITION_FAILED',
    'the database that is configured is older than what its store has seen; if it is the only one from now on, run "holdfast takeover" first',
  )
}

/** The store that stays was already given to the target's database. Its old one is not served since. */
async function isAllButOver(move: Move): Promise<boolean> {
  const { source, target } = move
  if (movesOf(move).bytes || (await isBlank(target.db))) return false
  const origin = await metaOf(target.db, pairMeta.relocating)
  if (origin === null || origin !== (await metaOf(source.db, pairMeta.mark))) return false
  const present = await readStoreMark(source.blobs)
  return present !== null && present.mark === (await metaOf(target.db, pairMeta.next))
}

async function assertFree({ source, target }: Move): Promise<void> {
  if (await isBlank(target.db)) return
  const origin = await metaOf(target.db, pairMeta.relocating)
  if (origin === null) {
    if (await holdsNothing(target.db)) return
    throw new Refusal(
      'PRECONDITION_FAILED',
      'the target database is not empty: it is in use already, or an earlier relocation into it is finished; name an empty one',
    )
  }
  if (origin !== (await metaOf(source.db, pairMeta.mark))) {
    throw new Refusal(
      'PRECONDITION_FAILED',
      'the target database holds the unfinished relocation of another Holdfast; finish that one, or name an empty database',
    )
  }
}

/** True for a store that an earlier run has begun to fill, false for an empty one. Throws for any other. */
async function isOwnStore(db: Db, store: BlobStore): Promise<boolean> {
  const present = (await readStoreMark(store))?.mark ?? null
  if (present !== null && present === (await metaOf(db, pairMeta.next))) return true
  // Somebody may have tried the empty pair before.
  const isFree = present === null || present === (await metaOf(db, pairMeta.mark))
  if (isFree && (await isEmpty(store))) return false
  throw new Refusal(
    'PRECONDITION_FAILED',
    isFree
      ? 'there are files in the target store already; name an empty one'
      : 'the target store belongs to a database already; name an empty one',
  )
}

async function isEmpty(store: BlobStore): Promise<boolean> {
  for await (const _ of store.list()) return false
  return true
}
