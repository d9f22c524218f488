import type { Config } from '../config.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

/** Throws Refusal when guests may not upload, not into a folder, or not so often from the address `bucket`. */
export type AdmitGuest = (bucket: string, intoFolder: boolean) => Promise<void>

export function createGuestAdmission(
  rates: RateLimits,
  { guestUploads, guestRateLimit }: Pick<Config, 'guestUploads' | 'guestRateLimit'>,
): AdmitGuest {
  return async (bucket, intoFolder) => {
    if (intoFolder) {
      throw new Refusal('INVALID_API_KEY', 'Uploading into a folder needs an API key')
    }
    if (!guestUploads) {
      throw new Refusal(
        'GUEST_UPLOADS_DISABLED',
        'Guests cannot upload to this server; sign in, or send an API key',
      )
    }
    const verdict = await rates.take(`guest:${bucket}`, 1, guestRateLimit, HOUR)
    if (!verdict.allowed) {
      throw new Refusal(
        'RATE_LIMITED',
        `Guests may upload ${verdict.limit} files an hour; try again later`,
        verdict.resetsIn,
      )
    }
  }
}
