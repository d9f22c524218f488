import type { Db } from '../database/schema.ts'
import { dropEndedUploads, unusedUploads } from '../database/upload-ends.ts'
import type { UploadRow } from '../database/uploads.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { reportOne } from './failures.ts'
import { letOthersIn } from './turns.ts'
import { giveUp } from './upload-endings.ts'

/** Uploads that nobody goes on with. */
export interface UploadExpiry {
  /** Gives up what had no byte for too long, and forgets what has ended that long ago. */
  run(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 50
const always = () => true

/** `report` is told of an upload that cannot be given up; it keeps no other from that. */
export function createUploadExpiry(
  db: Db,
  clock: Clock,
  expireHours: number,
  report: (error: unknown) => void,
): UploadExpiry {
  return {
    async run(mayGoOn = always) {
      const cutoff = clock.now() - expireHours * HOUR
      let last: UploadRow | null = null
      while (mayGoOn()) {
        const uploads: UploadRow[] = await unusedUploads(db, cutoff, last, STEP)
        for (const upload of uploads) {
          if (!mayGoOn()) return
          await giveUp(db, upload, 'expired', clock.now()).catch((error) => reportOne(error, report))
          last = upload
        }
        if (uploads.length < STEP) break
        await letOthersIn()
      }
      while (mayGoOn() && (await dropEndedUploads(db, cutoff, STEP)) === STEP) await letOthersIn()
    },
  }
}
