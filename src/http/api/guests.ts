import { HOUR } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Call } from '../call.ts'

/** Throws Refusal when guests may not upload, not into a folder, or not so often. */
export async function admitGuest(call: Call, bucket: string, intoFolder: boolean): Promise<void> {
  const { config, services } = call.site
  if (intoFolder) {
    throw new Refusal('INVALID_API_KEY', 'Uploading into a folder needs an API key')
  }
  if (!config.guestUploads) {
    throw new Refusal(
      'GUEST_UPLOADS_DISABLED',
      'Guests cannot upload to this server; sign in, or send an API key',
    )
  }
  const verdict = await services.rates.take(`guest:${bucket}`, 1, config.guestRateLimit, HOUR)
  if (!verdict.allowed) {
    throw new Refusal(
      'RATE_LIMITED',
      `Guests may upload ${verdict.limit} files an hour; try again later`,
      verdict.resetsIn,
    )
  }
}
