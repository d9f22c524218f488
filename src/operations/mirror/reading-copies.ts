import type { Database } from '../../database/database.ts'
import type { Damage } from '../../database/schema.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { isChosen } from '../integrity/inspection.ts'
import { otherContents } from '../integrity/integrity.rows.ts'
import { assertReadable, readDamage, sizeDamage } from '../integrity/reading.ts'
import { type Copied, forgetCopy, type MirroredContent, mirroredAfter } from './mirror.rows.ts'
import type { Mirror } from './mirror-store.ts'

const BATCH = 100
const MOST_LISTED = 100_000

export interface WrongCopy {
  readonly key: BlobKey
  readonly reason: Damage
}

export interface CopiesRead {
  readonly contents: number
  readonly bytes: number
  readonly wrongCopies: number
  readonly wrong: readonly WrongCopy[]
}

interface Reading {
  readonly db: Database
  readonly mirror: Mirror
  readonly clock: Clock
  readonly random: Random
  /** Share of copies to read, 0 to 1; of the others only sizes are compared. */
  readonly share: number
  readonly tell: (read: { readonly count: number; readonly bytes: number }) => void
  readonly signal: AbortSignal
}

/** Forgets copies damaged at two looks; the next run copies them again. */
export async function readCopies(reading: Reading): Promise<CopiesRead> {
  const { db, mirror, clock, signal, tell } = reading
  let [contents, bytes, wrongCopies] = [0, 0, 0]
  const wrong: WrongCopy[] = []
  let last: BlobId | null = null
  for (;;) {
    const batch: MirroredContent[] = await mirroredAfter(db, { after: last }, BATCH)
    last = batch.at(-1)?.id ?? null
    if (last === null) return { contents, bytes, wrongCopies, wrong }
    for (const { id, mirroredKey: key, size, sha256 } of batch) {
      signal.throwIfAborted()
      const isRead = isChosen(reading.random(4), reading.share)
      const look = () => (isRead ? readDamage : sizeDamage)(mirror.store, { key, size, sha256 })
      const reason = await confirmedCopy({ db, mirror }, id, look)
      if (reason !== null) {
        await forgetDamaged({ db, mirror, clock }, { id, key })
        wrongCopies++
        if (wrong.length < MOST_LISTED) wrong.push({ key, reason })
      }
      if (isRead) bytes += size
      contents++
      tell({ count: 1, bytes: isRead ? size : 0 })
    }
  }
}

/** Null where one of two looks finds the copy sound. Throws StoreUnreadable. */
export async function confirmedCopy(
  { db, mirror }: Pick<Reading, 'db' | 'mirror'>,
  content: BlobId,
  look: () => Promise<Damage | null>,
): Promise<Damage | null> {
  const damage = (await look()) === null ? null : await look()
  if (damage === 'unreadable') {
    await assertReadable(mirror.store, await otherContents(db, content, 'mirrored_key'))
  }
  return damage
}

/** The copy is made again, and removed in a day. Throws MirrorUnusable where the place is not the mirror any more. */
export async function forgetDamaged(
  { db, mirror, clock }: Pick<Reading, 'db' | 'mirror' | 'clock'>,
  copy: Copied,
): Promise<void> {
  await mirror.assertOwn()
  await forgetCopy(db, copy, clock.now() + DAY)
}
