import * as z from 'zod'
import { type Clock, DAY, SECOND } from '../domain/clock.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { Browser } from './auth.ts'
import type { Signing } from './signing.ts'
import { browserCookie, cookieFlags, cookiePrefix } from './signing-in-terms.ts'

/**
 * Tells browsers in which somebody has signed in to an account before, so that their wrong passwords are counted apart
 * from those of strangers (the device cookie of OWASP's "Blocking Brute Force Attacks"). A signed cookie says it; it is
 * void once the account has another password.
 */
export interface KnownBrowsers {
  /** What the browser's wrong passwords for the account are counted by; null: as those of a stranger. */
  knownAs(browser: Browser, account: AccountId, passwordHash: string): string | null
  /**
   * Set-Cookie headers by which the browser is known to the account from now on; none for an account without a password,
   * which nobody can be locked out of.
   */
  remember(browser: Browser, account: AccountId, passwordHash: string | null): readonly string[]
}

const LASTS = 365 * DAY
/** Accounts that one browser is known to; the oldest are forgotten. */
const MOST_ACCOUNTS = 5
const PURPOSE = 'known-browser'

const payload = z.array(z.object({ a: z.number(), n: z.string(), t: z.string(), e: z.number() }))
type Entry = z.infer<typeof payload>[number]

export function createKnownBrowsers(parts: {
  signing: Signing
  clock: Clock
  random: Random
  publicUrl: () => string
}): KnownBrowsers {
  const { signing, clock, random, publicUrl } = parts
  const name = () => `${cookiePrefix(publicUrl())}.browser`
  /** Says nothing of the hash, and changes with it. */
  const tagOf = (passwordHash: string) => signing.tag('known-browser-password', passwordHash)

  function entries(browser: Browser): readonly Entry[] {
    const cookie = browserCookie(browser, name())
    const found = cookie === null ? null : payload.safeParse(signing.verify(PURPOSE, cookie))
    return found?.success === true ? found.data.filter(({ e }) => e > clock.now()) : []
  }

  return {
    knownAs(browser, account, passwordHash) {
      const entry = entries(browser).find(({ a }) => a === account)
      return entry !== undefined && entry.t === tagOf(passwordHash) ? entry.n : null
    },

    remember(browser, account, passwordHash) {
      if (passwordHash === null) return []
      const others = entries(browser).filter(({ a }) => a !== account)
      const n = Buffer.from(random(12)).toString('base64url')
      const entry = { a: account, n, t: tagOf(passwordHash), e: clock.now() + LASTS }
      const value = signing.sign(PURPOSE, [...others, entry].slice(-MOST_ACCOUNTS))
      return [`${name()}=${value}; Max-Age=${LASTS / SECOND}${cookieFlags(publicUrl())}`]
    },
  }
}
