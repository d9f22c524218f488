import { lockAccount, lockContent } from '../database/differences.ts'
import { findFile } from '../database/files.ts'
import {
  allowContent,
  blobsOf,
  countRefused,
  countTakenDown,
  type FileOfContent,
  filesOfBlob,
  filesToTakeDown,
  isRefused,
  listRefused,
  type RefusedContentRow,
  refuseContent,
  refusedToClear,
  setCleared,
} from '../database/refused-contents.ts'
import { closeReportsOn, findReport } from '../database/reports.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FileId, FileIdentifier, ReportId, Sha256 } from '../domain/ids.ts'
import { fileNotFound } from './access.ts'
import { noteDeed } from './audit.ts'
import { reportOne } from './failures.ts'
import { takeFileOut } from './file-taking-out.ts'
import { reportNotFound } from './reports.ts'
import { letOthersIn } from './turns.ts'

/** What was taken down. */
export interface TakenDown {
  readonly sha256: Sha256
  /** How many files went, in all accounts and in their bins. */
  readonly files: number
}

/**
 * Takes contents away from everybody, for good: every file that has it is gone when this returns, and it is not taken in
 * again. Bytes go as those of other deleted files do. Taking down ends where the content is allowed meanwhile.
 */
export interface TakeDowns {
  /** What the report is about, whether its file is still there or not. Throws Refusal NOT_FOUND. */
  reported(actor: Actor, id: ReportId): Promise<TakenDown>
  /** The content of a file that is there. Throws Refusal FILE_NOT_FOUND. */
  file(actor: Actor, identifier: FileIdentifier): Promise<TakenDown>
  /** A content that need not be here yet. */
  content(actor: Actor, sha256: Sha256): Promise<TakenDown>
  /** It may be uploaded again; its files stay gone. Throws Refusal NOT_FOUND. */
  allow(actor: Actor, sha256: Sha256): Promise<void>
  /** A page of the contents that are refused, the newest first. */
  refused(
    page: number,
    perPage: number,
  ): Promise<{ readonly contents: readonly RefusedContentRow[]; readonly total: number }>
  /** Goes on where taking down was interrupted. */
  run(mayGoOn?: () => boolean): Promise<void>
}

/** Files of one transaction. */
const STEP = 20

/** Reports that one statement closes. */
const REPORTS = 100

const FIRST = 0 as FileId

/** `report` is told of a content that `run` cannot take down; it keeps no other from that. */
export function createTakeDowns(db: Db, clock: Clock, report: (error: unknown) => void): TakeDowns {
  async function takeDown(actor: Actor, sha256: Sha256, why: Record<string, string | number>) {
    await inTransaction(db, async (trx) => {
      // Whoever has brought the content in before is through after this, and nobody can from then on.
      await lockContent(trx, sha256, 'alone')
      await refuseContent(trx, sha256, clock.now())
      await noteDeed(trx, clock, actor, { act: 'content.taken_down', object: sha256, details: why })
    })
    return { sha256, files: await clear(sha256, () => true) }
  }

  /** Takes the files out that have the content, and closes the reports on it; returns how many files. */
  async function clear(sha256: Sha256, mayGoOn: () => boolean): Promise<number> {
    let taken = 0
    for (const blob of await blobsOf(db, sha256)) {
      for (let after = FIRST; mayGoOn(); ) {
        const files = await filesOfBlob(db, blob, after, STEP)
        for (const [account, ids] of byAccount(files)) {
          const went = await clearStep(sha256, account, ids)
          if (went === null) return taken
          taken += went
        }
        const last = files.at(-1)
        if (last === undefined) break
        after = last.id
        await letOthersIn()
      }
    }
    const close = () =>
      whileRefused(sha256, null, (trx) => closeReportsOn(trx, sha256, 'taken_down', clock.now(), REPORTS))
    while (mayGoOn() && (await close()) === REPORTS) await letOthersIn()
    if (mayGoOn()) await whileRefused(sha256, null, (trx) => setCleared(trx, sha256))
    return taken
  }

  function clearStep(sha256: Sha256, account: AccountId, ids: readonly FileId[]): Promise<number | null> {
    return whileRefused(sha256, account, async (trx) => {
      const files = await filesToTakeDown(trx, ids)
      for (const file of files) await takeFileOut(trx, file, clock.now())
      await countTakenDown(trx, sha256, files.length)
      return files.length
    })
  }

  /** Runs the work in a transaction, under the account's lock; null where the content has been allowed meanwhile. */
  function whileRefused<T>(
    sha256: Sha256,
    account: AccountId | null,
    work: (trx: Db) => Promise<T>,
  ): Promise<T | null> {
    return inTransaction(db, async (trx) => {
      if (account !== null) await lockAccount(trx, account)
      await lockContent(trx, sha256, 'together')
      return (await isRefused(trx, sha256)) ? work(trx) : null
    })
  }

  return {
    async reported(actor, id) {
      const report = await findReport(db, id)
      if (report === undefined) throw reportNotFound(id)
      return takeDown(actor, report.sha256, { report: id, slug: report.slug, name: report.name })
    },

    async file(actor, identifier) {
      const file = await findFile(db, identifier)
      if (file === undefined) throw fileNotFound()
      return takeDown(actor, file.sha256, { slug: file.slug, name: file.name })
    },

    content: (actor, sha256) => takeDown(actor, sha256, {}),

    allow: (actor, sha256) =>
      inTransaction(db, async (trx) => {
        // Whoever was taking a file of it down is through after this.
        await lockContent(trx, sha256, 'alone')
        if (!(await allowContent(trx, sha256))) {
          throw new Refusal('NOT_FOUND', 'No content with that hash is blocked')
        }
        await noteDeed(trx, clock, actor, { act: 'content.allowed', object: sha256 })
      }),

    async refused(page, perPage) {
      const contents = await listRefused(db, (page - 1) * perPage, perPage)
      return { contents, total: await countRefused(db) }
    },

    async run(mayGoOn = () => true) {
      for (let last: Sha256 | null = null; mayGoOn(); ) {
        const sha256: Sha256 | undefined = await refusedToClear(db, last)
        if (sha256 === undefined) return
        await clear(sha256, mayGoOn).catch((error) => reportOne(error, report))
        last = sha256
      }
    },
  }
}

function byAccount(files: readonly FileOfContent[]): Map<AccountId, FileId[]> {
  const accounts = new Map<AccountId, FileId[]>()
  for (const { account_id, id } of files) {
    accounts.set(account_id, [...(accounts.get(account_id) ?? []), id])
  }
  return accounts
}
