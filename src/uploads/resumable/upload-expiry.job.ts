import { reportOne } from '../../core/failures.ts'
import type { Aging, Outages } from '../../core/outages.ts'
import { yieldToEventLoop } from '../../core/yielding.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { UploadId } from '../../domain/ids.ts'
import type { UploadRow } from '../uploads.rows.ts'
import { awaitsParts, keepPartsInUse, withPartsReceived } from './awaited-parts.ts'
import { waitingEmpty } from './empty-uploads.rows.ts'
import { isEmpty } from './empty-uploads.ts'
import { joinedIfWhole } from './part-claims.ts'
import { abandonUpload } from './upload-endings.ts'
import { awaitingUploads, dropEndedUploads, noteUse, unusedUploads } from './upload-ends.rows.ts'

const STEP = 50
const always = () => true

export interface UploadExpiryParts {
  readonly db: Database
  readonly clock: Clock
  /** Times without the service do not count, as nobody could go on. */
  readonly outages: Pick<Outages, 'settle'>
  readonly aging: Aging
  /** Of uploads without a byte. */
  readonly emptyAging: Aging
  /** Told of an upload that cannot be given up; it keeps no other from that. */
  readonly report: (error: unknown) => void
}

/** Uploads that nobody goes on with. */
export class UploadExpiry {
  readonly #parts: UploadExpiryParts

  constructor(parts: UploadExpiryParts) {
    this.#parts = parts
  }

  /**
   * Joins what has waited for its parts and has them, keeps the parts of the others as long as bytes come to one, gives up what had no byte for too long, or never any, and forgets what has ended
   * that long ago.
   */
  async run(mayGoOn: () => boolean = always): Promise<void> {
    const { db, outages, aging } = this.#parts
    const begun = await this.#join(mayGoOn)
    const now = await outages.settle()
    // Over is what ends now, too.
    const cutoff = aging.cutoff(now + 1) - 1
    await this.#each(unusedUploads, cutoff, mayGoOn, (upload) => this.#giveUp(upload, cutoff))
    const emptyCutoff = this.#parts.emptyAging.cutoff(now + 1) - 1
    await this.#each(waitingEmpty, emptyCutoff, mayGoOn, async (upload) => {
      if (!begun.has(upload.id)) await this.#giveUpEmpty(upload)
    })
    while (mayGoOn() && (await dropEndedUploads(db, cutoff, STEP)) === STEP) await yieldToEventLoop()
  }

  /** Does the work for each upload that has waited since `cutoff`; of one that fails it tells, and goes on. */
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

  /**
   * The last look at a final upload may have come before the last byte of its parts. Returns the parts of those that wait
   * and have bytes.
   */
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
          if (!awaitsParts(present)) continue
          const parts = await keepPartsInUse(db, present)
          if (parts.some(({ received }) => received > 0)) for (const { id } of parts) begun.add(id)
        } catch (error) {
          if (!(error instanceof Refusal)) reportOne(error, report)
        }
      }
      last = uploads.length < STEP ? undefined : uploads.at(-1)
    } while (last !== undefined)
    return begun
  }

  /** Of one that waits for parts their last byte counts, too. */
  async #giveUp(upload: UploadRow, cutoff: number): Promise<void> {
    const { db, clock } = this.#parts
    const { used_at } = await withPartsReceived(db, upload)
    if (used_at > cutoff) await noteUse(db, [upload.id], used_at)
    else await abandonUpload(db, upload, 'expired', clock.now())
  }
}
