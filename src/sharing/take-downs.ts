import { changeTotals } from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import { releaseBlob } from '../core/blobs.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import { reportOne } from '../core/failures.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount, lockContent } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, yieldToEventLoop } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type {
  AccountId,
  BinEntryId,
  BlobId,
  FileId,
  FileIdentifier,
  ReportId,
  Sha256,
} from '../domain/ids.ts'
import {
  countBin,
  dropBinEntry,
  entryById,
  entryOfFile,
  isEmptied,
  takeFromEntry,
} from '../files/bin/bin.rows.ts'
import { fileNotFound, findFile } from '../files/files.ts'
import { changeFiles, changeTree, folderById, folderChain } from '../files/folders/folders.rows.ts'
import {
  allowContent,
  blobsOf,
  countRefused,
  countTakenDown,
  deletedFilesOfBlob,
  type FileOfContent,
  filesOfBlob,
  filesToTakeDown,
  isRefused,
  listRefused,
  refuseContent,
  refusedToClear,
  setCleared,
} from '../files/refused-contents.rows.ts'
import { dropFile, markRemoved, setRemoved } from '../files/removals.ts'
import { closeReportsOn, findReport, reportNotFound } from './reports.ts'

export interface TakenDown {
  readonly sha256: Sha256
  readonly files: number
}

export type TakeDowns = ReturnType<typeof createTakeDowns>

/**
 * Removes contents from all accounts for good: when a function returns, every file with the content is gone
 * and uploads of it are refused. A server removes the bytes at once; otherwise a server's next job does. A
 * take-down stops once the content was allowed.
 *
 * `report`: called for each content that `run` fails to take down; it goes on with the others.
 * `removeGarbage` never throws.
 */
export function createTakeDowns(
  db: Database,
  clock: Clock,
  report: (error: unknown) => void,
  removeGarbage: () => Promise<void> = async () => {},
) {
  async function clear(sha256: Sha256, mayGoOn: () => boolean): Promise<number> {
    const files = await new ContentClearing(db, clock, sha256, mayGoOn).run()
    await removeGarbage()
    return files
  }

  async function takeDown(actor: Actor, sha256: Sha256, details: Record<string, string | number>) {
    await inTransaction(db, async (trx) => {
      // Waits for uploads of this content that are being committed; later ones are refused.
      await lockContent(trx, sha256, 'alone')
      await refuseContent(trx, sha256, clock.now())
      await recordAuditEntry(trx, clock, actor, { act: 'content.taken_down', object: sha256, details })
    })
    return { sha256, files: await clear(sha256, () => true) }
  }

  return {
    /** The reported file may be gone. Throws Refusal NOT_FOUND. */
    async reported(actor: Actor, id: ReportId): Promise<TakenDown> {
      const report = await findReport(db, id)
      if (report === undefined) throw reportNotFound(id)
      return takeDown(actor, report.sha256, { report: id, slug: report.slug, name: report.name })
    },

    /** Throws Refusal FILE_NOT_FOUND. */
    async file(actor: Actor, identifier: FileIdentifier): Promise<TakenDown> {
      const file = await findFile(db, identifier)
      if (file === undefined) throw fileNotFound()
      return takeDown(actor, file.sha256, { slug: file.slug, name: file.name })
    },

    /** The content need not be stored yet. */
    content: (actor: Actor, sha256: Sha256): Promise<TakenDown> => takeDown(actor, sha256, {}),

    /** Permits new uploads of the content; removed files stay removed. Throws Refusal NOT_FOUND. */
    allow: (actor: Actor, sha256: Sha256): Promise<void> =>
      inTransaction(db, async (trx) => {
        // Waits for concurrent take-downs of this content.
        await lockContent(trx, sha256, 'alone')
        if (!(await allowContent(trx, sha256))) {
          throw new Refusal('NOT_FOUND', 'No content with that hash is blocked')
        }
        await recordAuditEntry(trx, clock, actor, { act: 'content.allowed', object: sha256 })
      }),

    async refused(page: number, perPage: number) {
      const contents = await listRefused(db, (page - 1) * perPage, perPage)
      return { contents, total: await countRefused(db) }
    },

    hasWork: async () => (await refusedToClear(db, null)) !== undefined,

    async run(mayGoOn: () => boolean = () => true): Promise<void> {
      for (let last: Sha256 | null = null; mayGoOn(); ) {
        const sha256: Sha256 | undefined = await refusedToClear(db, last)
        if (sha256 === undefined) return
        await clear(sha256, mayGoOn).catch((error) => reportOne(error, report))
        last = sha256
      }
    },
  }
}

const STEP = 20
const REPORTS = 100
const FIRST = 0 as FileId

/** Each step stops the work once the content was allowed. */
class ContentClearing {
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
