/** Compares what the database promises with the bytes in the store, beside running servers. */
import { type BlobStore, StoreFailure } from '../../blobs/blob-store.ts'
import { GARBAGE_GRACE } from '../../core/blobs.rows.ts'
import type { Database } from '../../database/database.ts'
import type { Damage } from '../../database/schema.ts'
import type { BlobKey } from '../../domain/ids.ts'
import type { StorageOptions } from '../../storage.ts'
import { withInstallation } from '../installation.ts'
import { DamageMarker, type MarkLimit, type Marks } from './damage-marker.ts'
import { type DamagedBlob, inspectContents } from './inspection.ts'
import { contentTotals, filesWith } from './integrity.rows.ts'
import { findOrphans, removeOrphans } from './orphans.ts'
import type { RepairParts } from './repair-from-copy.ts'
import { repairSum } from './repairs.ts'
import { type WrongSum, wrongReferences, wrongSums } from './sums.ts'
import { createThrottle, unthrottled } from './throttle.ts'

/** How much of the bytes is read and hashed: a share of all contents, or about that many bytes. */
export type ReadData =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'bytes'; readonly bytes: number }

export interface Damaged {
  readonly slug: string
  readonly name: string
  readonly owner: string
  readonly reason: Damage
  /** Key of the content in the store. */
  readonly key: string
  /** Whether its bytes were brought back. */
  readonly isRepaired: boolean
}

/** What a check changes; without it, nothing. */
export interface CheckWork {
  readonly marks: MarkLimit
  /** Corrects sums, and brings damaged contents back where there is a second copy. */
  readonly repairs: boolean
  readonly removesOrphans: boolean
  /** Told what is about to be done, before it is. */
  readonly announce: (line: string) => void
  readonly repair?: RepairBlob
}

/** Brings the content's bytes back from a second copy; false where there is none. */
export type RepairBlob = (parts: RepairParts, wrong: DamagedBlob) => Promise<boolean>

export interface CheckResult extends Marks {
  readonly checkedContents: number
  readonly checkedFiles: number
  /** Bytes that were read and hashed. */
  readonly checkedBytes: number
  /** The files that were found damaged, at most `MOST_LISTED`. */
  readonly damaged: readonly Damaged[]
  /** Keys in the store that no row refers to. */
  readonly orphans: readonly BlobKey[]
  readonly removedOrphans: readonly BlobKey[]
  /** What does not add up, a line each, at most `MOST_LISTED`. */
  readonly sums: readonly string[]
  /** What was put right of it, a line each. */
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
  /** Bytes that are read in a second at most. */
  readonly rate?: number | null
  readonly work?: CheckWork
}

const LOOK_ONLY: CheckWork = { marks: 'none', repairs: false, removesOrphans: false, announce() {} }

/** Files that are named for one damaged content, and in all: a store that is empty damages them all. */
const MOST_NAMED = 1000
export const MOST_LISTED = 100_000

/** Throws Refusal PRECONDITION_FAILED where there is no database of this version, and WrongStore. */
export function checkInstallation(check: Check): Promise<CheckResult> {
  return withInstallation(check, ({ db, blobs }) => new Checking(check, db, blobs).run())
}

class Checking {
  readonly #check: Check
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #work: CheckWork
  readonly #damaged: Damaged[] = []
  readonly #sums: string[] = []
  readonly #repaired: string[] = []
  #removedOrphans: BlobKey[] = []

  constructor(check: Check, db: Database, blobs: BlobStore) {
    this.#check = check
    this.#db = db
    this.#blobs = blobs
    this.#work = check.work ?? LOOK_ONLY
  }

  async run(): Promise<CheckResult> {
    const contents = await this.#contents()
    const orphans = await findOrphans(this.#db, this.#blobs, this.#check.clock.timers)
    for await (const wrong of wrongSums(this.#db)) await this.#sum(wrong)
    if (this.#work.removesOrphans && orphans.length > 0) await this.#remove(orphans)
    return {
      ...contents,
      damaged: this.#damaged,
      orphans,
      removedOrphans: this.#removedOrphans,
      sums: this.#sums,
      repaired: this.#repaired,
    }
  }

  async #contents() {
    const { readData, random, tell, clock, rate = null } = this.#check
    const parts = { db: this.#db, blobs: this.#blobs, clock }
    const totals = await contentTotals(this.#db)
    const marker = new DamageMarker(parts, this.#work.marks, totals.contents)
    let [checkedContents, checkedFiles, checkedBytes] = [0, 0, 0]
    const share = shareOf(readData, totals.bytes)
    const throttle = rate === null ? unthrottled : createThrottle(rate, clock.timers)
    for await (const { contents, wrong, sound, bytesRead } of inspectContents({
      ...parts,
      random,
      share,
      throttle,
    })) {
      for await (const references of wrongReferences(this.#db, contents)) await this.#sum(references)
      for (const found of wrong) await this.#wrong(marker, found)
      await marker.sound(sound)
      checkedContents += contents.length
      checkedFiles += contents.reduce((sum, { files }) => sum + files, 0)
      checkedBytes += bytesRead
      tell({ contents: checkedContents, of: totals.contents, bytesRead: checkedBytes })
    }
    return { checkedContents, checkedFiles, checkedBytes, ...(await marker.finish()) }
  }

  async #wrong(marker: DamageMarker, wrong: DamagedBlob): Promise<void> {
    const { content, damage } = wrong
    const room = Math.min(MOST_NAMED, MOST_LISTED - this.#damaged.length)
    const files = room > 0 ? await filesWith(this.#db, content.id, room) : []
    const isRepaired = await this.#repair(wrong)
    for (const file of files) this.#damaged.push({ ...file, reason: damage, key: content.key, isRepaired })
    if (!isRepaired) await marker.found(content, damage)
  }

  async #repair(wrong: DamagedBlob): Promise<boolean> {
    const { repairs, repair, announce } = this.#work
    if (!repairs || repair === undefined) return false
    const { key } = wrong.content
    announce(`content ${key}: its bytes are fetched from a second copy, if there is one`)
    const { clock, random, config } = this.#check
    const parts = { db: this.#db, blobs: this.#blobs, clock, random, minFree: config.minFreeSpace }
    const isRepaired = await repair(parts, wrong).catch((error: unknown) => {
      // One that the store does not take, alone, does not stop the others.
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
    if (await repairSum(this.#db, wrong, dueAt)) list(this.#repaired, wrong.lines)
  }

  async #remove(orphans: readonly BlobKey[]): Promise<void> {
    const { clock } = this.#check
    this.#work.announce(
      `of ${orphans.length} contents that belong to no file, those older than a day are removed`,
    )
    const parts = { db: this.#db, blobs: this.#blobs, clock }
    this.#removedOrphans = await removeOrphans(parts, orphans)
  }
}

/** What is beyond `MOST_LISTED` is put right too, and not named. */
function list(lines: string[], more: readonly string[]): void {
  lines.push(...more.slice(0, MOST_LISTED - lines.length))
}

function shareOf(readData: ReadData, all: number): number {
  if (readData.kind === 'nothing') return 0
  if (readData.kind === 'share') return readData.share
  return all === 0 ? 1 : Math.min(1, readData.bytes / all)
}
