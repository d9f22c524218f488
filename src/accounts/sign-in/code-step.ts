import * as z from 'zod'
import { findAccount } from '../../core/accounts.rows.ts'
import type { Signing } from '../../core/hmac.ts'
import { tryOnce } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { MINUTE, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Challenges, MakeChallenges } from './challenges.ts'
import { findPassword, findSettledPassword } from './identities.rows.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { codesNotSetUp, type SecondFactorCodes } from './second-factor-codes.ts'
import type { BeginSession } from './session-start.ts'
import { type Browser, CODE_MAY_TAKE } from './sign-in-terms.ts'
import { lockTwoFactor } from './two-factors.rows.ts'

/** Second step of a sign-in, for accounts with codes. Void once the password changes. */
export interface CodeStep {
  /**
   * Starts the step after the password with that hash. Returns the Set-Cookie header that ties the code to
   * it.
   */
  begin(trx: Trx, account: AccountId, hash: string): Promise<string>
  /**
   * Accepts an app's code or a recovery code. Returns Set-Cookie headers. Throws Refusal WRONG_CODE,
   * NOT_SIGNED_IN or RATE_LIMITED.
   */
  finish(browser: Browser, text: string): Promise<readonly string[]>
}

/** Wrong codes per account after a correct password; a known browser has a limit of its own. */
const CODES = 10
/** Codes that may be tried after one password; then the password is required again. */
const CODES_PER_PASSWORD = 5
/** Suggested seconds until a retry when the limit is reached. */
const WAIT_AFTER_CODES = (15 * MINUTE) / SECOND

const TOO_MANY_CODES = 'Too many wrong codes; wait a while and sign in again'

/** Content of the challenge: the password step that succeeded. */
const givenPassword = z.object({
  kind: z.literal('code'),
  account: z.number().transform((id) => id as AccountId),
  /** HMAC of the password hash, which changes with it and does not reveal it. */
  tag: z.string(),
  /** Number of codes tried. */
  tries: z.number(),
})

type Given = z.infer<typeof givenPassword>

export function createCodeStep(parts: {
  db: Database
  rates: RateLimits
  signing: Signing
  knownBrowsers: KnownBrowsers
  challenges: MakeChallenges
  codes: SecondFactorCodes
  beginSession: BeginSession
}): CodeStep {
  const { db, rates, signing, knownBrowsers, codes, beginSession } = parts
  const given = parts.challenges({ name: 'password', lasts: CODE_MAY_TAKE, content: givenPassword })
  const tagOf = (hash: string) => signing.tag('sign-in-password', hash)

  const use = (browser: Browser, { account, tag }: Given, code: string): Promise<readonly string[]> =>
    inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      const hash = await findSettledPassword(trx, account)
      if (hash === null || tagOf(hash) !== tag) throw tooLate()
      const kept = await lockTwoFactor(trx, account)
      if (kept?.verified !== 1) throw codesNotSetUp()
      await codes.useAnyCode(trx, account, kept, code)
      // A wrong code rolls this back, so only the correct one ends the step.
      if ((await given.take(trx, browser)) === null) throw tooLate()
      const session = await beginSession(trx, account, browser, 'password and code')
      return [session, given.forget(), ...knownBrowsers.remember(browser, account, hash)]
    })

  return {
    begin: (trx, account, hash) => given.begin(trx, { kind: 'code', account, tag: tagOf(hash), tries: 0 }),

    async finish(browser, text) {
      const step = await given.find(browser)
      const hash = step === null ? null : await findPassword(db, step.account)
      if (step === null || hash === null || tagOf(hash) !== step.tag) throw tooLate()
      const known = knownBrowsers.knownAs(browser, step.account, hash)
      const subject = known === null ? `codes:${step.account}` : `codes-known:${known}`
      const windows = [{ subject, limit: CODES, length: 15 * MINUTE }] as const
      const username = (await findAccount(db, step.account))?.username ?? null
      const terms = { message: TOO_MANY_CODES, tried: { secret: 'sign-in', username } } as const
      return tryOnce(rates, windows, terms, async () => {
        await countCode(given, db, browser)
        return use(browser, step, text.replaceAll(/\s/g, ''))
      })
    },
  }
}

/** Counts the code before it is checked, so that concurrent guesses are counted too. */
async function countCode(given: Challenges<Given>, db: Database, browser: Browser): Promise<void> {
  const counted = await given.change(browser, (step) => ({ ...step, tries: step.tries + 1 }))
  if (counted === null) throw tooLate()
  if (counted.tries <= CODES_PER_PASSWORD) return
  await given.take(db, browser)
  const refusedTry = { secret: 'sign-in', username: null, outcome: 'locked' } as const
  throw new Refusal('RATE_LIMITED', TOO_MANY_CODES, WAIT_AFTER_CODES, { refusedTry })
}

function tooLate(): Refusal {
  return new Refusal('NOT_SIGNED_IN', 'The password was given too long ago, or changed since; sign in again')
}
