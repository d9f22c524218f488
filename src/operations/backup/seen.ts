/** The last catalog seen in each place: an older or foreign one is refused. */
import * as z from 'zod/mini'
import type { StorePlace } from '../../config/setting-groups.ts'
import { metaOf, setMeta } from '../../core/meta.rows.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { preconditionFailed } from '../../domain/errors.ts'
import { type MarkState, stateName } from '../mark-copies.ts'
import { placeName } from '../store-places.ts'
import type { Catalog } from './catalog.ts'

const seen = z.object({
  series: z.string(),
  number: z.int(),
  /** A series about to begin there: a kill may have come before or after. */
  opening: z.nullable(z.string()),
  isOnDataDisk: z.boolean(),
})
export type Seen = z.infer<typeof seen>

const keyOf = (place: string) => `backup_seen ${place}`

/** Null before the first backup there. */
export async function seenOf(db: Queryable, place: StorePlace): Promise<Seen | null> {
  const text = await metaOf(db, keyOf(placeName(place)))
  return text === null ? null : seen.parse(JSON.parse(text))
}

export async function setSeen(db: Database, place: StorePlace, now: Seen): Promise<void> {
  await inTransaction(db, (trx) => setMeta(trx, keyOf(placeName(place)), JSON.stringify(now)))
}

/** Throws Refusal PRECONDITION_FAILED for a catalog older than the last one seen, or of another series. */
export function assertNotOlder(place: StorePlace, present: Catalog, known: Seen | null): void {
  if (known === null || present.series === known.opening) return
  const name = placeName(place)
  const [there, had] = [stateName(present), stateName(known)]
  const goesOn =
    'Where that is meant, "holdfast backup --new-series" goes on with what is there; otherwise bring back what was there before (docs/operations/disaster.md)'
  if (present.series !== known.series) {
    throw preconditionFailed(
      `${name} has another backup than this installation made there: its catalog is ${there}, and ${had} was seen before. ${goesOn}`,
    )
  }
  if (present.number < known.number) {
    throw preconditionFailed(
      `${name} has an older state of the backup than this installation has seen: its catalog is ${there}, and ${had} was seen before. ${goesOn}`,
    )
  }
}

/** Throws Refusal PRECONDITION_FAILED for a catalog older than required, or of another series. */
export function assertAtLeast(present: MarkState, least: MarkState | null): void {
  if (least === null) return
  if (present.series === least.series && present.number >= least.number) return
  throw preconditionFailed(
    `the catalog that was found is ${stateName(present)}, and it has to be ${stateName(least)} at least: somebody has put an older backup or another one in its place`,
  )
}
