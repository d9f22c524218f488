import { type BinEntryRow, findBinEntry, placeOfEntry } from '../database/bin.ts'
import type { Db } from '../database/schema.ts'
import { Refusal } from '../domain/errors.ts'
import type { BinEntryId } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { wasWithin } from './places.ts'

/**
 * The entry of the bin, one that is coming back included, if what it is was within reach. Throws Refusal NOT_FOUND, for a
 * foreign one just as for a missing one.
 */
export async function ownEntry(db: Db, reach: Reach, id: BinEntryId): Promise<BinEntryRow> {
  const entry = await findBinEntry(db, reach.account, id)
  if (entry === undefined) throw entryNotFound()
  if (reach.within === null) return entry
  if (!(await wasWithin(db, reach, await placeOfEntry(db, entry)))) throw entryNotFound()
  return entry
}

export function entryNotFound(): Refusal {
  return new Refusal('NOT_FOUND', 'There is nothing of that number in your bin')
}
