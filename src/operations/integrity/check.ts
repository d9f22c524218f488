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

/** False where there is no second copy. */
export type RepairBlob = (parts: RepairParts, wrong: DamagedBlob) => Promise<boolean>

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

function list(lines: string[], more: readonly string[]): void {
  lines.push(...more.slice(0, MOST_LISTED - lines.length))
}

function shareOf(readData: ReadData, all: number): number {
  if (readData.kind === 'nothing') return 0
  if (readData.kind === 'share') return readData.share
  return all === 0 ? 1 : Math.min(1, readData.bytes / all)
}
