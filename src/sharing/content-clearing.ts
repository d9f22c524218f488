import { changeTotals } from '../core/accounts.rows.ts'
import { releaseBlob } from '../core/blobs.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount, lockContent } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, yieldToEventLoop } from '../domain/clock.ts'
import type { AccountId, BinEntryId, BlobId, FileId, Sha256 } from '../domain/ids.ts'
import {
  countBin,
  dropBinEntry,
  entryById,
  entryOfFile,
  isEmptied,
  takeFromEntry,
} from '../files/bin/bin.rows.ts'
import { dropFile, markRemoved, setRemoved } from '../files/file-removal.rows.ts'
import { changeFiles, changeTree, folderById, folderChain } from '../files/folders/folders.rows.ts'
import {
  blobsOf,
  countTakenDown,
  deletedFilesOfBlob,
  type FileOfContent,
  filesOfBlob,
  filesToTakeDown,
  isRefused,
  setCleared,
} from '../files/refused-contents.rows.ts'
import { closeReportsOn } from './reports.rows.ts'

const STEP = 20
const REPORTS = 100
const FIRST = 0 as FileId

/** Each step stops the work once the content was allowed. */
export class ContentClearing {
  readonly #db: Database
  readonly #clock: Clock
  readonly #sha256: Sha256
  readonly #mayGoOn: () => boolean

  constructor(db: Database, clock: Clock, sha256: Sha256, mayGoOn: () => boolean) {
    this.#db = db
    this.#clock = clock
    this.#sha256 = sha256
    this.#mayGoOn = mayGoOn
  }

  async run(): Promise<number> {
    let removed = 0
    for (const blob of await blobsOf(this.#db, this.#sha256)) {
      for (let after = FIRST; this.#mayGoOn(); ) {
        const files = await filesOfBlob(this.#db, blob, after, STEP)
        let isMoved = false
        for (const [account, ids] of byAccount(files)) {
          const step = await this.#removeFiles(account, ids)
          if (step === null) return removed
          removed += step.removed
          isMoved ||= step.isMoved
        }
        const last = files.at(-1)
        if (last === undefined) break
        if (!isMoved) after = last.id
        await yieldToEventLoop()
      }
      await this.#erase(blob)
    }
    await this.#closeReports()
    return removed
  }

  /** `isMoved`: another account owns some of the files by now, so its lock is needed. */
  #removeFiles(
    account: AccountId,
    ids: readonly FileId[],
  ): Promise<{ readonly removed: number; readonly isMoved: boolean } | null> {
    return this.#whileRefused(account, async (trx) => {
      const files = await filesToTakeDown(trx, ids)
      const own = files.filter((file) => file.account_id === account)
      for (const file of own) await purgeFile(trx, file, this.#clock.now())
      await countTakenDown(trx, this.#sha256, own.length)
      return { removed: own.length, isMoved: own.length < files.length }
    })
  }

  /**
   * Drops the rows at once and makes the bytes garbage that is due now: a store's signed address is valid
   * until the object is deleted.
   */
  async #erase(blob: BlobId): Promise<void> {
    for (let dropped: number | null = STEP; dropped === STEP && this.#mayGoOn(); await yieldToEventLoop()) {
      dropped = await this.#whileRefused(null, async (trx) => {
        const files = await deletedFilesOfBlob(trx, blob, STEP)
        for (const file of files) {
          const released = await dropFile(trx, file)
          if (released !== null) await releaseBlob(trx, released, this.#clock.now())
        }
        return files.length
      })
    }
  }

  async #closeReports(): Promise<void> {
    const close = () =>
      this.#whileRefused(null, (trx) =>
        closeReportsOn(trx, this.#sha256, 'taken_down', this.#clock.now(), REPORTS),
      )
    while (this.#mayGoOn() && (await close()) === REPORTS) await yieldToEventLoop()
    if (this.#mayGoOn()) await this.#whileRefused(null, (trx) => setCleared(trx, this.#sha256))
  }

  /** Null when the content was allowed meanwhile. */
  #whileRefused<T>(account: AccountId | null, work: (trx: Trx) => Promise<T>): Promise<T | null> {
    return inTransaction(this.#db, async (trx) => {
      if (account !== null) await lockAccount(trx, account)
      await lockContent(trx, this.#sha256, 'together')
      return (await isRefused(trx, this.#sha256)) ? work(trx) : null
    })
  }
}

function byAccount(files: readonly FileOfContent[]): Map<AccountId, FileId[]> {
  const accounts = new Map<AccountId, FileId[]>()
  for (const { account_id, id } of files) {
    accounts.set(account_id, [...(accounts.get(account_id) ?? []), id])
  }
  return accounts
}

/**
 * In any state: live, expired, binned, or being restored. Keeps every total consistent. The account must be
 * locked.
 */
async function purgeFile(trx: Trx, file: FileOfContent, at: number): Promise<void> {
  if (file.removal === 'expired') return setRemoved(trx, [file], 'deleted', at)
  if (file.removal === 'binned') return deleteFromBin(trx, file, at)
  const chain = await folderChain(trx, file.folder_id)
  const gone = chain.findLast((step) => step.deleted_at !== null)
  if (gone !== undefined) return deleteFromFolder(trx, file, gone.bin_id, at)
  await markRemoved(trx, [file], 'deleted', at)
  await noteChange(trx, file.account_id, { kind: 'file.removed', file: file.id, place: file.folder_id })
}

async function deleteFromBin(trx: Trx, file: FileOfContent, at: number): Promise<void> {
  const { account_id: account, size } = file
  await setRemoved(trx, [file], 'deleted', at)
  const entry = await entryOfFile(trx, file.id)
  if (entry === undefined) return
  // Entries of an emptied bin are no longer in the totals.
  const isCounted = !(await isEmptied(trx, entry))
  await dropBinEntry(trx, entry.id)
  if (!isCounted) return
  await countBin(trx, account, -size, -1)
  await changeTotals(trx, account, { storage: -size })
  await noteChange(trx, account, { kind: 'bin' })
}

/** `id`: null deletes the folder for good. */
async function deleteFromFolder(
  trx: Trx,
  file: FileOfContent,
  id: BinEntryId | null,
  at: number,
): Promise<void> {
  const { account_id: account, folder_id: folder, size } = file
  await setRemoved(trx, [file], 'deleted', at)
  const entry = id === null ? undefined : await entryById(trx, id)
  if (entry === undefined || entry.folder_id === null) return
  const { parent_id: above } = await folderById(trx, entry.folder_id)
  // The ancestors' tree sums lack the whole folder, so the file is added back before it is subtracted.
  if (above !== null) await changeTree(trx, above, { files: 1, bytes: size })
  await changeFiles(trx, folder, -1, -size)
  await takeFromEntry(trx, entry.id, size)
  if (await isEmptied(trx, entry)) return
  if (entry.restoring === 0) await countBin(trx, account, -size, 0)
  await changeTotals(trx, account, { storage: -size })
  await noteChange(trx, account, { kind: 'bin' })
}
