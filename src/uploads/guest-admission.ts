import type { Config } from '../config.ts'
import type { Signing } from '../core/hmac.ts'
import type { RateLimits, Verdict } from '../core/rate-limits/rate-limits.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

/** Throws Refusal. `bucket`: the address. Partial uploads count once, as their final upload. */
export type AdmitGuest = (bucket: string, intoFolder: boolean, started?: StartedByGuest) => Promise<void>

export interface StartedByGuest {
  readonly uploads: 0 | 1
  readonly parts: number
}

const ONE_UPLOAD: StartedByGuest = { uploads: 1, parts: 0 }

/** Throws Refusal at guests' limit. */
export type AdmitContributor = (bucket: string) => Promise<void>

/** Applies where guests may not upload, too: the link's owner has invited contributors. */
export function createContributorAdmission(
  rates: RateLimits,
  { guestRateLimit }: Pick<Config, 'guestRateLimit'>,
): AdmitContributor {
  return async (bucket) => {
    assertWithin(await rates.take(`guest:${bucket}`, 1, guestRateLimit, HOUR))
  }
}

function assertWithin({ allowed, limit, resetsIn }: Verdict): void {
  if (allowed) return
  throw new Refusal('RATE_LIMITED', `Guests may upload ${limit} files an hour; try again later`, resetsIn)
}

/** As many as our own clients start. */
const PARTS_EACH = 32

export function createGuestAdmission(
  rates: RateLimits,
  { guestUploads, guestRateLimit }: Pick<Config, 'guestUploads' | 'guestRateLimit'>,
): AdmitGuest {
  return async (bucket, intoFolder, { uploads, parts } = ONE_UPLOAD) => {
    if (intoFolder) {
      throw new Refusal('INVALID_API_KEY', 'Uploading into a folder needs an API key')
    }
    if (!guestUploads) {
      throw new Refusal(
        'GUEST_UPLOADS_DISABLED',
        'Guests cannot upload to this server; sign in, or send an API key',
      )
    }
    const verdict =
      uploads === 0
        ? await rates.look(`guest:${bucket}`, 1, guestRateLimit, HOUR)
        : await rates.take(`guest:${bucket}`, 1, guestRateLimit, HOUR)
    assertWithin(verdict)
    if (parts === 0) return
    const { allowed, limit, resetsIn } = await rates.take(
      `guest-parts:${bucket}`,
      parts,
      guestRateLimit * PARTS_EACH,
      HOUR,
    )
    if (allowed) return
    const message = `Guests may start ${limit} parts of uploads an hour; try again later`
    throw new Refusal('RATE_LIMITED', message, resetsIn)
  }
}

/** A keyed hash of a guest's address or network: equal for equal addresses, reveals nothing else. */
export function guestAddress(signing: Signing, bucket: string): string {
  return signing.tag('guest address', bucket)
}
