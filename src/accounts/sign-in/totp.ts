import { Secret, TOTP } from 'otpauth'
import { SECOND } from '../../domain/clock.ts'
import type { Random } from '../../domain/random.ts'

/** TOTP (RFC 6238) with the parameters that every app supports: SHA-1, six digits, steps of 30 seconds. */

const STEP = 30 * SECOND
/** Accepted steps before and after the current one, for clock differences. */
const WINDOW = 1

export function makeTotpSecret(random: Random): string {
  return Buffer.from(random(24)).toString('base64url')
}

export function base32Of(secret: string): string {
  return keyOf(secret).base32
}

/** Counted from the epoch; null when no step close to `now` has the code. */
export function totpStep(secret: string, code: string, now: number): number | null {
  const delta = TOTP.validate({ token: code, secret: keyOf(secret), timestamp: now, window: WINDOW })
  return delta === null ? null : Math.floor(now / STEP) + delta
}

function keyOf(secret: string): Secret {
  return new Secret({ buffer: new Uint8Array(Buffer.from(secret)).buffer })
}
