import type { Queryable } from '../../database/database.ts'
import type { Reach } from '../../domain/access.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BinEntryId } from '../../domain/ids.ts'
import { wasWithin } from '../folders/places.ts'
import { type BinEntryRow, findBinEntry, placeOfEntry } from './bin.rows.ts'

/** Includes an entry being restored. Throws Refusal NOT_FOUND, also for one out of reach. */
export async function ownEntry(db: Queryable, reach: Reach, id: BinEntryId): Promise<BinEntryRow> {
  const entry = await findBinEntry(db, reach.account, id)
  if (entry === undefined) throw entryNotFound()
  if (reach.within === null) return entry
  if (!(await wasWithin(db, reach, await placeOfEntry(db, entry)))) throw entryNotFound()
  return entry
}

export function entryNotFound(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no entry with that number in your bin')
}
