import * as z from 'zod/mini'
import type { MirrorConfig } from '../config/setting-groups.ts'
import { metaOf, setMeta } from '../core/meta.rows.ts'
import type { Database } from '../database/database.ts'
import type { Damage } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, SECOND } from '../domain/clock.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import { otherContents } from './contents.rows.ts'
import {
  type Copied,
  forgetCopy,
  type MirroredContent,
  mirroredAfter,
  mirroredContent,
} from './mirror.rows.ts'
import type { Mirror } from './mirror-place.ts'
import type { DiskLoad, Throttle } from './pace.ts'
import { assertReadable, isChosen, readDamage, sizeDamage } from './reading.ts'
import { DUE_AFTER } from './scrub.ts'

/** Reads all copies in rounds by id, to replace damaged ones before they are needed. An interrupted round resumes. */

const KEY = 'mirror_reading'
const BATCH = 100
/** A kill repeats at most these reads. */
const NOTED_EVERY = 10 * SECOND

const round = z.object({
  began: z.int(),
  /** Every copy was read, or made, since then. */
  since: z.int(),
  after: z.nullable(z.custom<BlobId>((id) => Number.isSafeInteger(id))),
  isOver: z.boolean(),
  wrong: z.int(),
})
export type Round = z.infer<typeof round>

export async function presentRound(db: Database): Promise<Round | null> {
  const text = await metaOf(db, KEY)
  if (text === null) return null
  const kept = round.safeParse(JSON.parse(text))
  return kept.success ? kept.data : null
}

function note(db: Database, kept: Round): Promise<void> {
  return inTransaction(db, (trx) => setMeta(trx, KEY, JSON.stringify(kept)))
}

/** The first round counts as read: its copies were just made. */
export async function isReadingDue(
  db: Database,
  { scrubDays }: Pick<MirrorConfig, 'scrubDays'>,
  now: number,
): Promise<boolean> {
  if (scrubDays === 0) return false
  const present = await presentRound(db)
  if (present === null) {
    await note(db, { began: now, since: now, after: null, isOver: true, wrong: 0 })
    return false
  }
  return !present.isOver || now - present.began >= scrubDays * DUE_AFTER * DAY
}

export interface ReadingRound {
  readonly db: Database
  readonly mirror: Mirror
  readonly clock: Clock
  readonly throttle: Throttle
  readonly scrubDays: number
  readonly diskLoad: Pick<DiskLoad, 'quiet'>
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'error'>
  readonly mayGoOn: () => boolean
}

/** Until the end or `mayGoOn` is false; what was read counts. Throws the signal's reason and MirrorUnusable. */
export async function readRound(reading: ReadingRound): Promise<void> {
  const { db, clock, signal, mayGoOn } = reading
  const now = clock.now()
  const last = await presentRound(db)
  let present: Round =
    last === null || last.isOver
      ? { began: now, since: last?.since ?? now, after: null, isOver: false, wrong: 0 }
      : last
  let notedAt = clock.monotonic()
  // Overdue rounds do not wait for the disk.
  const isOverdue = now - present.since > reading.scrubDays * DAY
  try {
    for (;;) {
      const batch = await mirroredAfter(db, { after: present.after }, BATCH)
      if (batch.length === 0) {
        present = { ...present, since: present.began, after: null, isOver: true }
        return
      }
      for (const { id } of batch) {
        signal.throwIfAborted()
        if (!mayGoOn()) return
        if (!isOverdue) await quiet(reading)
        const isWrong = await readCopy(reading, id)
        present = { ...present, after: id, wrong: present.wrong + (isWrong ? 1 : 0) }
        if (clock.monotonic() - notedAt < NOTED_EVERY) continue
        await note(db, present)
        notedAt = clock.monotonic()
      }
    }
  } finally {
    await note(db, present)
  }
}

async function quiet({ diskLoad, signal }: ReadingRound): Promise<void> {
  while (!(await diskLoad.quiet(() => !signal.aborted))) signal.throwIfAborted()
}

async function readCopy({ db, mirror, clock, throttle, signal, log }: ReadingRound, id: BlobId) {
  const content = await mirroredContent(db, id)
  if (content === undefined) return false
  const { mirroredKey: key, size, sha256 } = content
  const throttled = async (bytes: number) => {
    signal.throwIfAborted()
    await throttle(bytes)
  }
  const look = () => readDamage(mirror.store, { key, size, sha256 }, throttled)
  const reason = await confirmedCopy({ db, mirror }, id, look)
  if (reason === null) return false
  await forgetDamaged({ db, mirror, clock }, { id, key })
  log.error({ key, damage: reason }, 'a copy in the mirror is damaged and is made anew')
  return true
}

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
