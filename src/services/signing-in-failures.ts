import * as z from 'zod'
import { MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

/** How long better-auth locks a second factor that was guessed at too often. */
const LOCKED_FOR = (15 * MINUTE) / SECOND

/** How better-auth refuses; told by its shape, so that nothing of it is loaded for that. */
const apiError = z.object({
  name: z.literal('APIError'),
  status: z.union([z.string(), z.number()]),
  body: z.object({ code: z.string().optional() }).optional(),
})

/** What better-auth refuses, as we say it; what is unknown passes through. */
export async function translated<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const known = apiError.safeParse(error)
    throw (known.success ? refusalFor(known.data.body?.code ?? String(known.data.status)) : null) ?? error
  }
}

function refusalFor(code: string): Refusal | null {
  switch (code) {
    case 'INVALID_USERNAME_OR_PASSWORD':
    case 'INVALID_PASSWORD':
      return wrongPassword()
    case 'INVALID_CODE':
    case 'INVALID_BACKUP_CODE':
    // Another request has used that recovery code up at the same moment.
    case 'CONFLICT':
      return new Refusal('WRONG_CODE', 'Wrong code; enter the one that your app shows now')
    case 'TOTP_NOT_ENABLED':
    case 'BACKUP_CODES_NOT_ENABLED':
    case 'TWO_FACTOR_NOT_ENABLED':
      return new Refusal(
        'INVALID_REQUEST',
        'Authenticator codes are not set up for this account; set them up first',
      )
    case 'INVALID_TWO_FACTOR_COOKIE':
      return new Refusal('NOT_SIGNED_IN', 'The password was given too long ago; sign in again')
    case 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE':
    case 'ACCOUNT_TEMPORARILY_LOCKED':
      return new Refusal('RATE_LIMITED', 'Too many wrong codes; wait a while and sign in again', LOCKED_FOR)
    case 'CHALLENGE_NOT_FOUND':
      return new Refusal('INVALID_REQUEST', 'That took too long; try again')
    case 'PASSKEY_NOT_FOUND':
    case 'AUTHENTICATION_FAILED':
      return wrongPasskey()
    case 'FAILED_TO_VERIFY_REGISTRATION':
      return new Refusal('INVALID_REQUEST', 'This passkey does not work for this site; try again')
    default:
      return null
  }
}

export function wrongPassword(): Refusal {
  return new Refusal('WRONG_PASSWORD', 'The user name or the password is wrong; check both and try again')
}

export function wrongPasskey(): Refusal {
  return new Refusal('NOT_IDENTIFIED', 'This passkey is not known here, or was not unlocked')
}
