import { reportOne } from '../../core/failures.ts'
import type { Aging, Outages } from '../../core/outages.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, yieldToEventLoop } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { UploadId } from '../../domain/ids.ts'
import {
  awaitingUploads,
  dropEndedUploads,
  noteUse,
  type UploadRow,
  unusedUploads,
  waitingEmpty,
} from '../uploads.rows.ts'
import {
  abandonUpload,
  awaitsPartial,
  joinedIfWhole,
  keepPartialInUse,
  withPartialReceived,
} from './concatenation.ts'

import { isEmpty } from './creation.ts'

const STEP = 50
const always = () => true

export class UploadExpiry {
  readonly #parts

  constructor(parts: {
    readonly db: Database
    readonly clock: Clock
    /** Outages do not count, as clients could not continue. */
    readonly outages: Pick<Outages, 'settle'>
    readonly aging: Aging
    /** For uploads without a byte. */
    readonly emptyAging: Aging
    /** Called for each upload that fails; the others go on. */
    readonly report: (error: unknown) => void
  }) {
    this.#parts = parts
  }

  /** Also claims complete parts, keeps those of active final uploads, and deletes rows of uploads ended long ago. */
  async run(mayGoOn: () => boolean = always): Promise<void> {
    const { db, outages, aging } = this.#parts
    const begun = await this.#join(mayGoOn)
    const now = await outages.settle()
    // Includes what ends at this very time.
    const cutoff = aging.cutoff(now + 1) - 1
    await this.#each(unusedUploads, cutoff, mayGoOn, (upload) => this.#giveUp(upload, cutoff))
    const emptyCutoff = this.#parts.emptyAging.cutoff(now + 1) - 1
    await this.#each(waitingEmpty, emptyCutoff, mayGoOn, async (upload) => {
      if (!begun.has(upload.id)) await this.#giveUpEmpty(upload)
    })
    while (mayGoOn() && (await dropEndedUploads(db, cutoff, STEP)) === STEP) await yieldToEventLoop()
  }

  /** Reports failures and goes on. */
  async #each(
    uploads: typeof unusedUploads,
    cutoff: number,
    mayGoOn: () => boolean,
    work: (upload: UploadRow) => Promise<void>,
  ): Promise<void> {
    const { db, report } = this.#parts
    let last: UploadRow | null = null
    while (mayGoOn()) {
      const some: UploadRow[] = await uploads(db, cutoff, last, STEP)
      for (const upload of some) {
        if (!mayGoOn()) return
        await work(upload).catch((error) => reportOne(error, report))
        last = upload
      }
      if (some.length < STEP) return
      await yieldToEventLoop()
    }
  }

  async #giveUpEmpty(upload: UploadRow): Promise<void> {
    const { db, clock } = this.#parts
    if (await isEmpty(db, upload)) await abandonUpload(db, upload, 'expired', clock.now())
  }

  /** The last check may have come before the parts' last byte. Returns the parts of waiting uploads that have bytes. */
  async #join(mayGoOn: () => boolean): Promise<ReadonlySet<UploadId>> {
    const { db, clock, report } = this.#parts
    const begun = new Set<UploadId>()
    let last: UploadRow | undefined
    do {
      const uploads: UploadRow[] = await awaitingUploads(db, last ?? null, STEP)
      for (const upload of uploads) {
        if (!mayGoOn()) return begun
        try {
          const present = await joinedIfWhole(db, upload, clock.now())
          if (!awaitsPartial(present)) continue
          const parts = await keepPartialInUse(db, present)
          if (parts.some(({ received }) => received > 0)) for (const { id } of parts) begun.add(id)
        } catch (error) {
          if (!(error instanceof Refusal)) reportOne(error, report)
        }
      }
      last = uploads.length < STEP ? undefined : uploads.at(-1)
    } while (last !== undefined)
    return begun
  }

  /** For a waiting final upload the last byte of its parts counts. */
  async #giveUp(upload: UploadRow, cutoff: number): Promise<void> {
    const { db, clock } = this.#parts
    const { used_at } = await withPartialReceived(db, upload)
    if (used_at > cutoff) await noteUse(db, [upload.id], used_at)
    else await abandonUpload(db, upload, 'expired', clock.now())
  }
}
