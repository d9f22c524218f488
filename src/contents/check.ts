import { type BlobStore, StoreFailure } from '../blobs/blob-store.ts'
import { GARBAGE_GRACE, releaseBlob } from '../core/blobs.rows.ts'
import { generationsOf, isBehind } from '../core/store/generations.ts'
import { assertOwnStore } from '../core/store/pairing.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import type { Damage } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, SECOND, sleep, type Timers } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, BinEntryId, BlobId, BlobKey, FolderId } from '../domain/ids.ts'
import type { StorageOptions } from '../storage.ts'
import {
  contentTotals,
  filesWith,
  findAccountSums,
  knownKeys,
  lockedContent,
  setAccountSums,
  setReferences,
} from './contents.rows.ts'
import { DamageMarker, type MarkLimit, type Marks, type RepairParts } from './damage.ts'
import { withInstallation } from './installation.ts'
import { createThrottle, unthrottled } from './pace.ts'
import { type DamagedBlob, inspectContents } from './reading.ts'
import { findFolderSums, findWrongEntry, setEntrySums, setFolderSums } from './sums.rows.ts'
import { accountFaults, folderFaults, type WrongSum, wrongReferences, wrongSums } from './sums.ts'

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

const BATCH = 500
/** Between two looks: uploads in progress get their rows. */
const PATIENCE = 3 * SECOND
const MOST_ORPHANS = 10_000

/** Keys without a row at two looks, at most `MOST_ORPHANS`. */
async function findOrphans(db: Database, blobs: BlobStore, timers: Timers): Promise<BlobKey[]> {
  const suspects = new Set<BlobKey>()
  let batch: BlobKey[] = []
  const look = async () => {
    const known = await knownKeys(db, batch)
    for (const key of batch) if (!known.has(key)) suspects.add(key)
    batch = []
  }
  for await (const key of blobs.list()) {
    batch.push(key)
    if (batch.length === BATCH) await look()
    if (suspects.size >= MOST_ORPHANS) break
  }
  await look()
  if (suspects.size === 0) return []
  await sleep(timers, PATIENCE)
  return await stillUnknown(db, blobs, [...suspects])
}

async function stillUnknown(
  db: Database,
  blobs: Pick<BlobStore, 'size'>,
  suspects: readonly BlobKey[],
): Promise<BlobKey[]> {
  const orphans: BlobKey[] = []
  for (let at = 0; at < suspects.length; at += BATCH) {
    const keys = suspects.slice(at, at + BATCH)
    const known = await knownKeys(db, keys)
    for (const key of keys) {
      // Removed since, or incomplete: the store drops incomplete ones by itself.
      if (!known.has(key) && (await blobs.size(key)) !== null) orphans.push(key)
    }
  }
  return orphans
}

/** Younger ones may belong to an upload on another node, or to a database just restored. */
const REMOVED_AFTER = DAY

/**
 * Removes orphans stored over a day ago; returns their keys. Throws Refusal PRECONDITION_FAILED while the database is
 * older than its store: a newer one has rows for them. Throws WrongStore, and what the store throws.
 */
async function removeOrphans(
  { db, blobs, clock }: { db: Database; blobs: BlobStore; clock: Clock },
  orphans: readonly BlobKey[],
): Promise<BlobKey[]> {
  const removed: BlobKey[] = []
  for (let at = 0; at < orphans.length; at += BATCH) {
    const keys = orphans.slice(at, at + BATCH)
    const old: BlobKey[] = []
    for (const key of keys) {
      const storedAt = await blobs.storedAt(key)
      if (storedAt !== null && storedAt < clock.now() - REMOVED_AFTER) old.push(key)
    }
    await assertOwnStore(db, blobs)
    if (isBehind(await generationsOf(db, blobs))) throw behind()
    const known = await knownKeys(db, old)
    const failures: unknown[] = []
    const unknown = old.filter((key) => !known.has(key))
    removed.push(...(await blobs.removeAll(unknown, (error) => failures.push(error))))
    if (failures.length > 0) throw failures[0]
  }
  return removed
}

function behind(): Refusal {
  return new Refusal(
    'PRECONDITION_FAILED',
    'the database is older than what its store has seen, so what belongs to no file here may belong to another database; nothing was removed (see "holdfast takeover")',
  )
}

/** Corrects counts, each in one transaction under the locks of uploads and deletions. */
async function repairSum(db: Database, wrong: WrongSum, garbageDueAt: number): Promise<boolean> {
  switch (wrong.of) {
    case 'account':
      return inLockedAccount(db, wrong.id, (trx) => repairAccount(trx, wrong.id))
    case 'folder':
      return inLockedAccount(db, wrong.account, (trx) => repairFolder(trx, wrong.id))
    case 'entry':
      return inLockedAccount(db, wrong.account, (trx) => repairEntry(trx, wrong.account, wrong.id))
    case 'content':
      return repairReferences(db, wrong.id, garbageDueAt)
    case 'loose folders':
      return false
  }
}

function inLockedAccount(
  db: Database,
  id: AccountId,
  repair: (trx: Trx) => Promise<boolean>,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockAccount(trx, id)
    return repair(trx)
  })
}

async function repairAccount(trx: Trx, id: AccountId): Promise<boolean> {
  const sums = await findAccountSums(trx, id)
  if (sums === undefined || accountFaults(sums).length === 0) return false
  await setAccountSums(trx, sums)
  return true
}

/** Repairs the folder, then its ancestors as far as their counts change. */
async function repairFolder(trx: Trx, id: FolderId): Promise<boolean> {
  let isRepaired = false
  let next: FolderId | null = id
  while (next !== null) {
    const sums = await findFolderSums(trx, next)
    if (sums === undefined || folderFaults(sums).length === 0) break
    await setFolderSums(trx, sums)
    isRepaired = true
    next = sums.parent_id
  }
  return isRepaired
}

async function repairEntry(trx: Trx, account: AccountId, id: BinEntryId): Promise<boolean> {
  const entry = await findWrongEntry(trx, id)
  if (entry === undefined) return false
  await setEntrySums(trx, entry)
  await repairAccount(trx, account)
  return true
}

function repairReferences(db: Database, id: BlobId, garbageDueAt: number): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const content = await lockedContent(trx, id)
    if (content === undefined || content.refs === content.files) return false
    await setReferences(trx, id, Math.max(1, content.files))
    if (content.files === 0) await releaseBlob(trx, id, garbageDueAt)
    return true
  })
}
