/** Records which copies any process has marked as damaged, and how each damage ended. */
import type { Database } from '../../database/database.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import { endDamages, endedDamages, forgetDamages, noteDamages, notNoted } from './damages.rows.ts'

const BATCH = 500
const KEPT_FOR = 400 * DAY

export async function followDamages(
  { db, clock }: { readonly db: Database; readonly clock: Pick<Clock, 'now'> },
  mayGoOn: () => boolean,
): Promise<void> {
  for (;;) {
    const ended = await endedDamages(db, BATCH)
    const idsOf = (remains: number) => ended.filter((row) => row.remains === remains).map(({ id }) => id)
    await endDamages(db, idsOf(1), 'repaired', clock.now())
    await endDamages(db, idsOf(0), 'deleted', clock.now())
    if (ended.length < BATCH || !mayGoOn()) break
  }
  for (;;) {
    const found = await notNoted(db, BATCH)
    await noteDamages(db, found)
    if (found.length < BATCH || !mayGoOn()) break
  }
  await forgetDamages(db, clock.now() - KEPT_FOR)
}
