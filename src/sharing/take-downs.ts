import { recordAuditEntry } from '../core/audit-log.ts'
import { reportOne } from '../core/failures.ts'
import type { Database } from '../database/database.ts'
import { lockContent } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileIdentifier, ReportId, Sha256 } from '../domain/ids.ts'
import { findFile } from '../files/files.rows.ts'
import { fileNotFound } from '../files/own-file.ts'
import {
  allowContent,
  countRefused,
  listRefused,
  type RefusedContentRow,
  refuseContent,
  refusedToClear,
} from '../files/refused-contents.rows.ts'
import { ContentClearing } from './content-clearing.ts'
import { findReport } from './reports.rows.ts'
import { reportNotFound } from './reports.ts'

export interface TakenDown {
  readonly sha256: Sha256
  readonly files: number
}

/**
 * Removes contents from all accounts for good: when a function returns, every file with the content is gone
 * and uploads of it are refused. A server removes the bytes at once; otherwise a server's next job does. A
 * take-down stops once the content was allowed.
 */
export interface TakeDowns {
  /** The reported file may be gone. Throws Refusal NOT_FOUND. */
  reported(actor: Actor, id: ReportId): Promise<TakenDown>
  /** Throws Refusal FILE_NOT_FOUND. */
  file(actor: Actor, identifier: FileIdentifier): Promise<TakenDown>
  /** The content need not be stored yet. */
  content(actor: Actor, sha256: Sha256): Promise<TakenDown>
  /** Permits new uploads of the content; removed files stay removed. Throws Refusal NOT_FOUND. */
  allow(actor: Actor, sha256: Sha256): Promise<void>
  refused(
    page: number,
    perPage: number,
  ): Promise<{ readonly contents: readonly RefusedContentRow[]; readonly total: number }>
  run(mayGoOn?: () => boolean): Promise<void>
  hasWork(): Promise<boolean>
}

/**
 * `report`: called for each content that `run` fails to take down; it goes on with the others.
 * `removeGarbage` never throws.
 */
export function createTakeDowns(
  db: Database,
  clock: Clock,
  report: (error: unknown) => void,
  removeGarbage: () => Promise<void> = async () => {},
): TakeDowns {
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
        // Waits for concurrent take-downs of this content.
        await lockContent(trx, sha256, 'alone')
        if (!(await allowContent(trx, sha256))) {
          throw new Refusal('NOT_FOUND', 'No content with that hash is blocked')
        }
        await recordAuditEntry(trx, clock, actor, { act: 'content.allowed', object: sha256 })
      }),

    async refused(page, perPage) {
      const contents = await listRefused(db, (page - 1) * perPage, perPage)
      return { contents, total: await countRefused(db) }
    },

    hasWork: async () => (await refusedToClear(db, null)) !== undefined,

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
