import { type BlobStore, StoreFailure } from '../blobs/blob-store.ts'
import { GARBAGE_GRACE } from '../core/blobs.rows.ts'
import { generationsOf, isBehind } from '../core/store/generations.ts'
import { assertOwnStore, type Installation } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import type { Damage } from '../database/schema.ts'
import { type Clock, DAY, SECOND, sleep } from '../domain/clock.ts'
import { preconditionFailed, type Refusal } from '../domain/errors.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { StorageOptions } from '../storage.ts'
import { type BlobRow, contentsAfter, contentTotals, filesWith, knownKeys } from './contents.rows.ts'
import { DamageMarker, type MarkLimit, type Marks, type RepairBlob } from './damage.ts'
import { createThrottle, type Throttle } from './pace.ts'
import { confirmed, type DamagedBlob, isChosen, isDamagedBlob, readDamage, sizeDamage } from './reading.ts'
import { withInstallation } from './store-places.ts'
import { repairSum, type WrongSum, wrongReferences, wrongSums } from './sums.ts'
import { grouped, inBatches, walk } from './walk.ts'

/** Bytes to read and hash: a share of all contents, or about that many bytes. */
export type ReadData =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'bytes'; readonly bytes: number }

export interface Damaged {
  readonly slug: string
  readonly name: string
  readonly owner: string
  readonly reason: Damage
  readonly key: string
  readonly isRepaired: boolean
}

export interface CheckWork {
  readonly marks: MarkLimit
  /** Corrects sums, and repairs contents that have a second copy. */
  readonly repairs: boolean
  readonly removesOrphans: boolean
  readonly announce: (line: string) => void
  readonly repair?: RepairBlob
}

export interface CheckResult extends Marks {
  readonly checkedContents: number
  readonly checkedFiles: number
  readonly checkedBytes: number
  readonly damaged: readonly Damaged[]
  readonly orphans: readonly BlobKey[]
  readonly removedOrphans: readonly BlobKey[]
  /** One line a fault, at most `MOST_LISTED`. */
  readonly sums: readonly string[]
  readonly repaired: readonly string[]
}

export interface Progress {
  readonly contents: number
  readonly of: number
  readonly bytesRead: number
}

export interface Check extends StorageOptions {
  readonly readData: ReadData
  readonly tell: (progress: Progress) => void
  /** Bytes a second. */
  readonly rate?: number | null
  readonly work?: CheckWork
}

const LOOK_ONLY: CheckWork = { marks: 'none', repairs: false, removesOrphans: false, announce() {} }

const MOST_NAMED = 1000
export const MOST_LISTED = 100_000

const BATCH = 200
const SIDE_BY_SIDE = 16
const READ_SIDE_BY_SIDE = 2

/** Throws Refusal PRECONDITION_FAILED where there is no database of this version, and WrongStore. */
export function checkInstallation(check: Check): Promise<CheckResult> {
  return withInstallation(check, (installation) => new Checking(check, installation).run())
}

class Checking {
  readonly #check: Check
  readonly #own: Own
  readonly #work: CheckWork
  readonly #damaged: Damaged[] = []
  readonly #sums: string[] = []
  readonly #repaired: string[] = []

  constructor(check: Check, { db, blobs }: Installation) {
    this.#check = check
    this.#own = { db, blobs, clock: check.clock }
    this.#work = check.work ?? LOOK_ONLY
  }

  async run(): Promise<CheckResult> {
    const { db } = this.#own
    const contents = await this.#contents()
    const orphans = await findOrphans(this.#own)
    for await (const wrong of wrongSums(db)) await this.#sum(wrong)
    const removedOrphans = this.#work.removesOrphans ? await this.#remove(orphans) : []
    const [damaged, sums, repaired] = [this.#damaged, this.#sums, this.#repaired]
    return { ...contents, damaged, orphans: [...orphans.keys()], removedOrphans, sums, repaired }
  }

  async #contents() {
    const { readData, tell, clock, rate = null } = this.#check
    const { db } = this.#own
    const totals = await contentTotals(db)
    const marker = new DamageMarker(this.#own, this.#work.marks, totals.count)
    let [checkedContents, checkedFiles, checkedBytes] = [0, 0, 0]
    const share = shareOf(readData, totals.bytes)
    const throttle = rate === null ? undefined : createThrottle(rate, clock.timers)
    const read = (last: BlobRow | null) => contentsAfter(db, last?.id ?? null, BATCH)
    for await (const contents of inBatches(read)) {
      const { wrong, sound, bytesRead } = await this.#inspect(contents, share, throttle)
      for await (const references of wrongReferences(db, contents)) await this.#sum(references)
      for (const found of wrong) await this.#wrong(marker, found)
      await marker.sound(sound)
      checkedContents += contents.length
      checkedFiles += contents.reduce((sum, { files }) => sum + files, 0)
      checkedBytes += bytesRead
      tell({ contents: checkedContents, of: totals.count, bytesRead: checkedBytes })
    }
    return { checkedContents, checkedFiles, checkedBytes, ...(await marker.finish()) }
  }

  /** Compares all sizes, and reads that share of the contents, and those marked as damaged. */
  async #inspect(contents: readonly BlobRow[], share: number, throttle: Throttle | undefined) {
    const { blobs } = this.#own
    const wrong: DamagedBlob[] = []
    const sound: BlobRow[] = []
    const bySize = async (content: BlobRow) => {
      const seen = await confirmed(this.#own, content, (row) => sizeDamage(blobs, row))
      if (isDamagedBlob(seen)) wrong.push(seen)
    }
    const byHash = async (content: BlobRow) => {
      const seen = await confirmed(this.#own, content, (row) => readDamage(blobs, row, { throttle }))
      if (isDamagedBlob(seen)) wrong.push(seen)
      else if (seen !== null) sound.push(seen.content)
    }
    const chosen = contents.filter(({ damage }) => damage !== null || isChosen(this.#check.random(4), share))
    await walk({ contents, width: SIDE_BY_SIDE, visit: bySize })
    const known = new Set(wrong.map(({ content }) => content.id))
    const toRead = chosen.filter(({ id }) => !known.has(id))
    await walk({ contents: toRead, width: READ_SIDE_BY_SIDE, visit: byHash })
    return { wrong, sound, bytesRead: toRead.reduce((sum, { size }) => sum + size, 0) }
  }

  async #wrong(marker: DamageMarker, wrong: DamagedBlob): Promise<void> {
    const { content, damage } = wrong
    const room = Math.min(MOST_NAMED, MOST_LISTED - this.#damaged.length)
    const files = room > 0 ? await filesWith(this.#own.db, content.id, room) : []
    const isRepaired = await this.#repair(wrong)
    for (const file of files) this.#damaged.push({ ...file, reason: damage, key: content.key, isRepaired })
    if (!isRepaired) await marker.found(content, damage)
  }

  async #repair(wrong: DamagedBlob): Promise<boolean> {
    const { repairs, repair, announce } = this.#work
    if (!repairs || repair === undefined) return false
    const { key } = wrong.content
    announce(`content ${key}: its bytes are fetched from a second copy, if there is one`)
    const { random, config } = this.#check
    const parts = { ...this.#own, random, minFree: config.minFreeSpace }
    const isRepaired = await repair(parts, wrong).catch((error: unknown) => {
      // One content that the store refuses does not stop the others.
      if (!(error instanceof StoreFailure) || error.reason !== 'broken') throw error
      const cause = error.cause instanceof Error ? error.cause.message : error.message
      announce(`content ${key}: its bytes could not be brought back: ${cause}`)
      return false
    })
    if (isRepaired) this.#repaired.push(`content ${key}: its bytes are back`)
    return isRepaired
  }

  async #sum(wrong: WrongSum): Promise<void> {
    list(this.#sums, wrong.lines)
    if (!this.#work.repairs || wrong.of === 'loose folders') return
    for (const line of wrong.lines) this.#work.announce(`${line}: it is counted again`)
    const dueAt = this.#check.clock.now() + GARBAGE_GRACE
    if (await repairSum(this.#own.db, wrong, dueAt)) list(this.#repaired, wrong.lines)
  }

  async #remove(orphans: Orphans): Promise<BlobKey[]> {
    if (orphans.size === 0) return []
    this.#work.announce(
      `of ${orphans.size} contents that belong to no file, those older than a day are removed`,
    )
    return removeOrphans(this.#own, orphans)
  }
}

function list(lines: string[], more: readonly string[]): void {
  lines.push(...more.slice(0, MOST_LISTED - lines.length))
}

function shareOf(readData: ReadData, all: number): number {
  if (readData.kind === 'nothing') return 0
  if (readData.kind === 'share') return readData.share
  return all === 0 ? 1 : Math.min(1, readData.bytes / all)
}

const KEYS = 500
/** Between two looks: uploads in progress get their rows. */
const PATIENCE = 3 * SECOND
const MOST_ORPHANS = 10_000
/** Younger ones may belong to an upload on another node, or to a database just restored. */
const REMOVED_AFTER = DAY

interface Own {
  readonly db: Database
  readonly blobs: BlobStore
  readonly clock: Clock
}

/** When each was stored. */
type Orphans = ReadonlyMap<BlobKey, number | null>

/** Keys without a row at two looks, at most `MOST_ORPHANS`. */
async function findOrphans({ db, blobs, clock }: Own): Promise<Orphans> {
  const suspects = new Map<BlobKey, number | null>()
  for await (const listed of grouped(blobs.list(), KEYS)) {
    const times = new Map(listed.map(({ key, storedAt }) => [key, storedAt]))
    for (const key of await unknownAmong(db, [...times.keys()])) suspects.set(key, times.get(key) ?? null)
    if (suspects.size >= MOST_ORPHANS) break
  }
  if (suspects.size === 0) return suspects
  await sleep(clock.timers, PATIENCE)
  const orphans = new Map<BlobKey, number | null>()
  for await (const keys of grouped(suspects.keys(), KEYS)) {
    for (const key of await unknownAmong(db, keys)) {
      // Removed since, or incomplete: the store drops incomplete ones by itself.
      if ((await blobs.size(key)) !== null) orphans.set(key, suspects.get(key) ?? null)
    }
  }
  return orphans
}

async function unknownAmong(db: Database, keys: readonly BlobKey[]): Promise<BlobKey[]> {
  const known = await knownKeys(db, keys)
  return keys.filter((key) => !known.has(key))
}

/**
 * Removes orphans stored over a day ago; returns their keys. Throws Refusal PRECONDITION_FAILED while the database is
 * older than its store: a newer one has rows for them. Throws WrongStore, and what the store throws.
 */
async function removeOrphans({ db, blobs, clock }: Own, orphans: Orphans): Promise<BlobKey[]> {
  const before = clock.now() - REMOVED_AFTER
  const old = [...orphans].filter(([, storedAt]) => storedAt !== null && storedAt < before)
  const removed: BlobKey[] = []
  for await (const some of grouped(old, KEYS)) {
    await assertOwnStore(db, blobs)
    if (isBehind(await generationsOf(db, blobs))) throw behind()
    const unknown = await unknownAmong(
      db,
      some.map(([key]) => key),
    )
    const failures: unknown[] = []
    removed.push(...(await blobs.removeAll(unknown, (error) => failures.push(error))))
    if (failures.length > 0) throw failures[0]
  }
  return removed
}

function behind(): Refusal {
  return preconditionFailed(
    'the database is older than what its store has seen, so what belongs to no file here may belong to another database; nothing was removed (see "holdfast takeover")',
  )
}
