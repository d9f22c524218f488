import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import { isDatabaseFailure } from '../../database/differences.ts'
import { MINUTE } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { OidcExchange } from './oidc-exchange.ts'

/** Rate-limited access to the OpenID Connect provider. */
export interface OidcProvider {
  /** Whether a provider is configured. */
  readonly isSet: boolean
  /**
   * Runs the exchange. Throws Refusal NOT_FOUND when no provider is configured, RATE_LIMITED, SERVER_BUSY
   * when all together are too many, and NOT_IDENTIFIED for any failure of the exchange. `step`: the rate window
   * within the address.
   */
  ask<T>(bucket: string, step: string, work: (exchange: OidcExchange) => Promise<T>): Promise<T>
}

/**
 * Sign-ins that an address may begin, and may end, in a quarter of an hour: each sends requests to the
 * provider. A school begins its day behind one address.
 */
const BY_ADDRESS = 300
/** Concurrent sign-ins that wait for the provider. */
const AT_ONCE = 50

const TOO_MANY = 'Too many tries to sign in; wait a while and try again'
const TOO_MANY_OF_ALL = 'Too many people are signing in; try again in a few seconds'

export function createOidcProvider(parts: {
  rates: RateLimits
  /** Null where no provider is configured. */
  exchange: OidcExchange | null
  /** Logs for the operator why the sign-in failed. */
  report: (reason: string) => void
}): OidcProvider {
  const { rates, exchange, report } = parts
  let running = 0

  return {
    isSet: exchange !== null,

    async ask(bucket, step, work) {
      if (exchange === null)
        throw new Refusal('NOT_FOUND', 'This server offers no way to sign in by another server')
      if (running >= AT_ONCE) throw new Refusal('SERVER_BUSY', TOO_MANY_OF_ALL, 5)
      running++
      try {
        await countTry(
          rates,
          [{ subject: `${step}:${bucket}`, limit: BY_ADDRESS, length: 15 * MINUTE }],
          TOO_MANY,
        )
        return await work(exchange)
      } catch (error) {
        if (error instanceof Refusal || isDatabaseFailure(error)) throw error
        report(reasonOf(error))
        throw isAboutCaller(error) ? notIdentified('sign-in') : notIdentified()
      } finally {
        running--
      }
    },
  }
}

/** Messages of an error and its causes, without the tokens that the errors hold. */
function reasonOf(error: unknown): string {
  const reasons: string[] = []
  for (let each = error; each instanceof Error && reasons.length < 5; each = each.cause)
    reasons.push(each.message)
  return reasons.join(': ')
}

/** Whether the provider answered, and not with what the caller claims: not for one that is away, or fails. */
function isAboutCaller(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REFUSED.some((code) => code === error.code)
}

/** Codes of openid-client: errors of the provider, and answers that are of another sign-in. */
const REFUSED = [
  'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
  'OAUTH_RESPONSE_BODY_ERROR',
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
] as const

/** `tried`: where the caller claimed to be somebody; absent where nothing was claimed. */
export function notIdentified(tried?: 'sign-in'): Refusal {
  const message = 'The other server did not say who you are; try again, or sign in another way'
  return tried === undefined
    ? new Refusal('NOT_IDENTIFIED', message)
    : wrongSecret('NOT_IDENTIFIED', message, tried)
}
