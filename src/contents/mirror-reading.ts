/** Reads copies in the mirror, to replace damaged ones before they are needed, and repairs contents from them. */
import * as z from 'zod/mini'
import type { Config, MirrorConfig } from '../config.ts'
import { metaOf, setMeta } from '../core/meta.rows.ts'
import type { Database } from '../database/database.ts'
import type { Damage } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, SECOND } from '../domain/clock.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import { otherContents } from './contents.rows.ts'
import { type RepairBlob, type RepairParts, repairFromCopy } from './damage.ts'
import { forgetCopy, type MirroredContent, mirroredAfter, mirroredContent } from './mirror.rows.ts'
import { type Mirror, openMirror } from './mirror-place.ts'
import type { DiskLoad, Throttle } from './pace.ts'
import { assertReadable, isChosen, readDamage, type StoredContent, sizeDamage } from './reading.ts'
import { DUE_AFTER } from './scrub.ts'
import { type Amount, eachOf, inBatches, isOutage, WalkLeft, walk } from './walk.ts'

interface CopyReading {
  readonly db: Database
  readonly mirror: Mirror
  readonly clock: Clock
}

/**
 * Forgets a copy that is damaged at two looks: it is made again, and removed in a day. Null for a sound one. Throws
 * StoreUnreadable, and MirrorUnusable where the place is not the mirror any more.
 */
export async function checkCopy(
  { db, mirror, clock }: CopyReading,
  { id, mirroredKey: key, size, sha256 }: MirroredContent,
  look: (copy: StoredContent) => Promise<Damage | null>,
): Promise<Damage | null> {
  const copy = { key, size, sha256 }
  const damage = (await look(copy)) === null ? null : await look(copy)
  if (damage === null) return null
  if (damage === 'unreadable') {
    await assertReadable(mirror.store, await otherContents(db, id, 'mirrored_key'))
  }
  await mirror.assertOwn()
  await forgetCopy(db, { id, key }, clock.now() + DAY)
  return damage
}

/** `gone`: deleted, or uploaded again meanwhile. `damaged`: the copy is damaged too, and is forgotten. */
export type RepairResult = 'repaired' | 'gone' | 'none' | 'damaged'

/** Looks twice more before it forgets a copy, which is removed later. Throws as `repairFromCopy` does. */
export async function repairFromMirror(
  parts: RepairParts & { readonly mirror: Mirror },
  id: BlobId,
): Promise<RepairResult> {
  const { db, mirror, throttle } = parts
  const content = await mirroredContent(db, id)
  if (content === undefined) return 'none'
  const from = mirror.store
  const result = await repairFromCopy({ from, fromKey: content.mirroredKey }, content, parts)
  if (result === 'repaired' || result === 'gone') return result
  const damage = await checkCopy(parts, content, (copy) => readDamage(from, copy, { throttle }))
  return damage === null ? 'none' : 'damaged'
}

/** Undefined without a mirror. The check goes on without a mirror that cannot be used. */
export function mirrorRepair(config: Config, onFailure: (error: unknown) => void): RepairBlob | undefined {
  if (config.mirror === null) return undefined
  const { place } = config.mirror
  let mirror: Mirror | null = null
  let isUnusable = false
  return async (parts, { content }) => {
    if (isUnusable) return false
    try {
      mirror ??= await openMirror({
        ...parts,
        place,
        onFault: ({ copy, reason }) => onFailure(new Error(`of the mark of the mirror, "${copy}" ${reason}`)),
      })
      return (await repairFromMirror({ ...parts, mirror }, content.id)) === 'repaired'
    } catch (error) {
      isUnusable = isOutage(error)
      onFailure(error)
      return false
    }
  }
}

function copiesAfter(db: Database, after: BlobId | null): AsyncGenerator<MirroredContent> {
  return eachOf(
    inBatches((last: MirroredContent | null) => mirroredAfter(db, { after: last?.id ?? after }, BATCH)),
  )
}

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

interface ReadingOfCopies extends CopyReading {
  readonly random: Random
  /** Share of copies to read, 0 to 1; of the others only sizes are compared. */
  readonly share: number
  readonly tell: (read: Amount) => void
  readonly signal: AbortSignal
}

export async function readCopies(reading: ReadingOfCopies): Promise<CopiesRead> {
  const { db, mirror, random, share, tell, signal } = reading
  let [contents, bytes, wrongCopies] = [0, 0, 0]
  const wrong: WrongCopy[] = []
  async function visit(content: MirroredContent): Promise<void> {
    const isRead = isChosen(random(4), share)
    const reason = await checkCopy(reading, content, (copy) =>
      isRead ? readDamage(mirror.store, copy) : sizeDamage(mirror.store, copy),
    )
    if (reason !== null) {
      wrongCopies++
      if (wrong.length < MOST_LISTED) wrong.push({ key: content.mirroredKey, reason })
    }
    const read = isRead ? content.size : 0
    bytes += read
    contents++
    tell({ count: 1, bytes: read })
  }
  await walk({ contents: copiesAfter(db, null), signal, visit })
  return { contents, bytes, wrongCopies, wrong }
}

const KEY = 'mirror_reading'
const BATCH = 100
const MOST_LISTED = 100_000
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

export interface ReadingRound extends CopyReading {
  readonly throttle: Throttle
  readonly scrubDays: number
  readonly diskLoad: Pick<DiskLoad, 'quiet'>
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'error'>
  readonly mayGoOn: () => boolean
}

/**
 * Reads all copies, by id, after those of an interrupted round. Until the end or `mayGoOn` is false; what was read
 * counts. Throws the signal's reason and MirrorUnusable.
 */
export async function readRound(reading: ReadingRound): Promise<void> {
  const { db, mirror, clock, throttle, signal, log, mayGoOn } = reading
  const now = clock.now()
  const last = await presentRound(db)
  let present: Round =
    last === null || last.isOver
      ? { began: now, since: last?.since ?? now, after: null, isOver: false, wrong: 0 }
      : last
  let notedAt = clock.monotonic()
  // Overdue rounds do not wait for the disk.
  const isOverdue = now - present.since > reading.scrubDays * DAY

  async function visit({ id }: MirroredContent): Promise<void> {
    if (!mayGoOn()) throw new WalkLeft()
    if (!isOverdue) await quiet(reading)
    const content = await mirroredContent(db, id)
    const reason =
      content === undefined
        ? null
        : await checkCopy(reading, content, (copy) => readDamage(mirror.store, copy, { throttle, signal }))
    if (reason !== null) {
      const key = content?.mirroredKey
      log.error({ key, damage: reason }, 'a copy in the mirror is damaged and is made anew')
    }
    present = { ...present, after: id, wrong: present.wrong + (reason === null ? 0 : 1) }
  }

  async function record(isOver: boolean): Promise<void> {
    if (!isOver && clock.monotonic() - notedAt < NOTED_EVERY) return
    await note(db, present)
    notedAt = clock.monotonic()
  }

  const contents = copiesAfter(db, present.after)
  if (!(await walk({ contents, signal, visit, record }))) return
  await note(db, { ...present, since: present.began, after: null, isOver: true })
}

async function quiet({ diskLoad, signal }: ReadingRound): Promise<void> {
  while (!(await diskLoad.quiet(() => !signal.aborted))) signal.throwIfAborted()
}
