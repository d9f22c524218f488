import * as z from 'zod'
import type { Signing } from '../../core/hmac.ts'
import { type Clock, DAY, SECOND } from '../../domain/clock.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { type Browser, browserCookie, cookieFlags, cookiePrefix } from './sign-in-terms.ts'

/**
 * Recognizes an account's browsers, so that their wrong passwords are counted separately from strangers' (the
 * device cookie of OWASP's "Blocking Brute Force Attacks"). The cookie is signed, and void once the password
 * changes.
 */
export interface KnownBrowsers {
  knownAs(browser: Browser, account: AccountId, passwordHash: string): string | null
  /** None for an account without a password, which cannot be locked out. */
  remember(browser: Browser, account: AccountId, passwordHash: string | null): readonly string[]
}

const LASTS = 365 * DAY
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
  /** Changes with the password hash and does not reveal it. */
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
