import type { Db } from '../database/schema.ts'
import { dropEndedUploads, unusedUploads } from '../database/upload-ends.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { letOthersIn } from './cleaning.ts'
import { giveUp } from './upload-endings.ts'

/** Uploads that nobody goes on with. */
export interface UploadExpiry {
  /** Gives up what had no byte for too long, and forgets what has ended that long ago. */
  run(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 50
const always = () => true

export function createUploadExpiry(db: Db, clock: Clock, expireHours: number): UploadExpiry {
  return {
    async run(mayGoOn = always) {
      const cutoff = clock.now() - expireHours * HOUR
      while (mayGoOn()) {
        const uploads = await unusedUploads(db, cutoff, STEP)
        for (const upload of uploads) if (mayGoOn()) await giveUp(db, upload, 'expired', clock.now())
        if (uploads.length < STEP) break
        await letOthersIn()
      }
      while (mayGoOn() && (await dropEndedUploads(db, cutoff, STEP)) === STEP) await letOthersIn()
    },
  }
}
