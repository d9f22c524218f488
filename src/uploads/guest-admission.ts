import type { Config } from '../config.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

/**
 * Throws Refusal when guests may not upload, not into a folder, or not so often from the address `bucket`. A part is no
 * upload of its own: the whole that it becomes a part of counts.
 */
export type AdmitGuest = (bucket: string, intoFolder: boolean, isPart?: boolean) => Promise<void>

/** Parts that a guest may start for each upload that is allowed. */
const PARTS_EACH = 10

export function createGuestAdmission(
  rates: RateLimits,
  { guestUploads, guestRateLimit }: Pick<Config, 'guestUploads' | 'guestRateLimit'>,
): AdmitGuest {
  return async (bucket, intoFolder, isPart = false) => {
    if (intoFolder) {
      throw new Refusal('INVALID_API_KEY', 'Uploading into a folder needs an API key')
    }
    if (!guestUploads) {
      throw new Refusal(
        'GUEST_UPLOADS_DISABLED',
        'Guests cannot upload to this server; sign in, or send an API key',
      )
    }
    // Whoever may upload nothing now need not send parts.
    const verdict = isPart
      ? await rates.look(`guest:${bucket}`, 1, guestRateLimit, HOUR)
      : await rates.take(`guest:${bucket}`, 1, guestRateLimit, HOUR)
    if (!verdict.allowed) {
      throw new Refusal(
        'RATE_LIMITED',
        `Guests may upload ${verdict.limit} files an hour; try again later`,
        verdict.resetsIn,
      )
    }
    if (!isPart) return
    const parts = await rates.take(`guest-parts:${bucket}`, 1, guestRateLimit * PARTS_EACH, HOUR)
    if (!parts.allowed) {
      const message = `Guests may start ${parts.limit} parts of uploads an hour; try again later`
      throw new Refusal('RATE_LIMITED', message, parts.resetsIn)
    }
  }
}
