import type { BlobStore } from '../../blobs/blob-store.ts'
import { metaOf, setMeta } from '../../core/meta.rows.ts'
import { generationsOf, isBehind } from '../../core/store/generations.ts'
import { type Move, movesOf } from '../../core/store/installation.ts'
import { assertPaired, makeMark, pairMeta } from '../../core/store/pairing.ts'
import { readStoreMark, writeStoreMark } from '../../core/store/store-mark.ts'
import type { Database } from '../../database/database.ts'
import { isBlank, migrate } from '../../database/migrate.ts'
import { inTransaction } from '../../database/transactions.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Random } from '../../domain/random.ts'
import { dropRelocatedBlobs, makeRelocatedBlobs } from './relocated-blobs.rows.ts'
import { holdsNothing } from './row-copy.rows.ts'

export type RelocationClaim =
  /** Only the final step was interrupted. */
  | 'only the last step is missing'
  | 'begun'
  /** An earlier run copied some bytes. */
  | 'goes on'

/**
 * Claims the target for this relocation: it must be unused, or claimed by an earlier run of this relocation. Afterwards
 * no served database uses the target's store, and the target's database, where rows move, refuses to be served. Throws
 * Refusal PRECONDITION_FAILED for a target in use, and what `migrate` and `assertPaired` throw.
 */
export async function claimTarget(move: Move, random: Random): Promise<RelocationClaim> {
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
    if (await isOnlySwitchMissing(move)) return 'only the last step is missing'
    await assertFree(move)
    await migrate(target.db)
  }
  // A run interrupted while switching over has marked the source as moved already.
  const mayBeMoved = moves.rows && (await isFillingFrom(source.db, target.db))
  await assertPaired(source.db, source.blobs, random, { mayBeMoved })
  await assertCounts(source)
  const origin = await metaOf(source.db, pairMeta.mark)
  if (origin === null) throw new Error('the paired database has no mark')

  if (moves.bytes && (await isOwnStore(target.db, target.blobs))) return 'goes on'
  const next = makeMark(random)
  await inTransaction(target.db, async (trx) => {
    if (moves.rows) await setMeta(trx, pairMeta.relocating, origin)
    await setMeta(trx, pairMeta.next, next)
    // Entries of an earlier relocation describe another store.
    await dropRelocatedBlobs(trx)
    if (moves.bytes) await makeRelocatedBlobs(trx)
  })
  if (moves.bytes) await writeStoreMark(target.blobs, { mark: next, generation: 0 })
  return 'begun'
}

/** Refuses a restored copy of the database, whose store may belong to a newer one. */
async function assertCounts({ db, blobs }: Move['source']): Promise<void> {
  if (!isBehind(await generationsOf(db, blobs))) return
  throw new Refusal(
    'PRECONDITION_FAILED',
    'the database that is configured is older than what its store has seen; if it is the only one from now on, run "holdfast takeover" first',
  )
}

/** Whether the store, which stays, already belongs to the target's database; then no server uses the source. */
async function isOnlySwitchMissing(move: Move): Promise<boolean> {
  const { source, target } = move
  if (movesOf(move).bytes || !(await isFillingFrom(source.db, target.db))) return false
  const present = await readStoreMark(source.blobs)
  return present !== null && present.mark === (await metaOf(target.db, pairMeta.next))
}

async function isFillingFrom(source: Database, target: Database): Promise<boolean> {
  if (await isBlank(target)) return false
  const origin = await metaOf(target, pairMeta.relocating)
  return origin !== null && origin === (await metaOf(source, pairMeta.mark))
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

/** True for a store that an earlier run began to fill, false for an empty one. Throws for any other. */
async function isOwnStore(db: Database, store: BlobStore): Promise<boolean> {
  const present = (await readStoreMark(store))?.mark ?? null
  if (present !== null && present === (await metaOf(db, pairMeta.next))) return true
  // The empty target may have been started once, which marks the pair.
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
