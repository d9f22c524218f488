/** Wrong guesses of strangers: they are limited, lock nobody out who has been there before, and learn nothing. */
// A process of its own: watches functions of Bun, which every server of the process calls.
import { describe, expect, spyOn, test } from 'bun:test'
import { z } from 'zod'
import { HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import { PASSWORD, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { codesAt } from '../../../support/sign-in/codes.ts'

const OTHER = 'granite lantern under moss'

const codeOf = codesAt(() => host.clock.now())

const host = await hostOfFile({ signUp: 'open', trustedProxies: ['127.0.0.1', '::1'] })

let addresses = 0
const somewhere = () => {
  addresses++
  return { 'x-forwarded-for': `198.51.${addresses >> 8}.${addresses & 255}` }
}
const browser = () => visitor(() => host.url)

let people = 0
/** Somebody in the browser in which they have signed up. */
async function person(): Promise<{ readonly username: string; readonly at: Visitor }> {
  const at = browser()
  const username = `lockable${++people}`
  await at.send('POST', '/api/v1/account', { username, password: PASSWORD }, somewhere())
  return { username, at }
}

const signIn = (at: Visitor, username: string, password = PASSWORD, from = somewhere()) =>
  at.send('POST', '/api/v1/session', { username, password }, from)

/** Sixty wrong passwords from seven addresses, as much as an hour allows. */
async function attack(username: string): Promise<void> {
  const from = Array.from({ length: 7 }, somewhere)
  const guesses = Array.from({ length: 61 }, (_, at) => signIn(browser(), username, 'not it', from[at % 7]))
  const codes = (await Promise.all(guesses)).map(({ error }) => error)
  expect(codes).toContain('RATE_LIMITED')
}

describe('lockout by strangers:', () => {
  test('a browser that has signed in before does so again while an account is guessed at, a strange one waits', async () => {
    const { username, at } = await person()
    await attack(username)
    expect((await at.get('/api/v1/session')).status).toBe(200)
    await at.send('DELETE', '/api/v1/session')
    expect((await signIn(browser(), username)).error).toBe('RATE_LIMITED')
    expect((await signIn(at, username)).status).toBe(200)
    host.clock.advance(HOUR)
    expect((await signIn(browser(), username)).status).toBe(200)
  })

  test('neighbours at the same address lock a known browser out neither', async () => {
    const { username, at } = await person()
    const here = somewhere()
    for (let tries = 0; tries < 11; tries++) await signIn(browser(), 'whoever', 'not it', here)
    expect((await signIn(browser(), username, PASSWORD, here)).error).toBe('RATE_LIMITED')
    expect((await signIn(at, username, PASSWORD, here)).status).toBe(200)
  })

  test('a known browser has ten wrong passwords in a quarter of an hour, and uses up nobody else’s', async () => {
    const { username, at } = await person()
    const codes: (string | null)[] = []
    for (let tries = 0; tries < 11; tries++) codes.push((await signIn(at, username, 'not it')).error)
    expect(codes).toEqual([...Array(10).fill('WRONG_PASSWORD'), 'RATE_LIMITED'])
    expect((await signIn(browser(), username)).status).toBe(200)
    host.clock.advance(15 * MINUTE)
    expect((await signIn(at, username)).status).toBe(200)
  })

  test('a browser is known to one account, by its signed cookie alone, and until the password changes', async () => {
    const [one, two] = [await person(), await person()]
    const name = 'holdfast.browser'
    const cookie = one.at.cookies.get(name) ?? ''
    const withCookie = (value: string) => {
      const at = browser()
      at.cookies.set(name, value)
      return at
    }
    await attack(one.username)
    await attack(two.username)
    expect((await signIn(withCookie(cookie), two.username)).error).toBe('RATE_LIMITED')
    const [body = '', signature = ''] = cookie.split('.')
    const entries = z
      .array(z.record(z.string(), z.unknown()))
      .parse(JSON.parse(Buffer.from(body, 'base64url').toString()))
    const forged = Buffer.from(JSON.stringify(entries.map((entry) => ({ ...entry, n: 'other' })))).toString(
      'base64url',
    )
    expect((await signIn(withCookie(`${forged}.${signature}`), one.username)).error).toBe('RATE_LIMITED')
    expect((await signIn(withCookie(cookie), one.username)).status).toBe(200)
    const change = { password: PASSWORD, new_password: OTHER }
    expect((await one.at.send('PATCH', '/api/v1/account', change)).status).toBe(200)
    expect((await signIn(withCookie(cookie), one.username, OTHER)).error).toBe('RATE_LIMITED')
    // Who has changed it is known from then on by the new one.
    expect((await signIn(one.at, one.username, OTHER)).status).toBe(200)
  })

  test('who knows the password and guesses codes locks a known browser out neither', async () => {
    const { username, at } = await person()
    const begun = await at.send('POST', '/api/v1/account/codes', { password: PASSWORD })
    const { secret } = begun.data(z.object({ secret: z.string() }))
    await at.send('POST', '/api/v1/account/codes/confirm', { code: codeOf(secret) })
    const codes: (string | null)[] = []
    for (let thieves = 0; thieves < 3; thieves++) {
      const thief = browser()
      await signIn(thief, username)
      for (let tries = 0; tries < 4; tries++) {
        codes.push((await thief.send('POST', '/api/v1/session/code', { code: '000000' })).error)
      }
    }
    expect(codes).toEqual([...Array(10).fill('WRONG_CODE'), 'RATE_LIMITED', 'RATE_LIMITED'])
    expect((await signIn(at, username)).status).toBe(200)
    expect((await at.send('POST', '/api/v1/session/code', { code: codeOf(secret, 1) })).status).toBe(200)
  })

  test('right passwords are no guesses: twenty people of one network sign in at the same moment', async () => {
    const here = somewhere()
    const all = []
    for (let at = 0; at < 20; at++) all.push((await person()).username)
    const replies = await Promise.all(all.map((username) => signIn(browser(), username, PASSWORD, here)))
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
  })
})

test('key timing: a key is looked up by its SHA-256, so how much of it was guessed right changes nothing', async () => {
  const { apiKey } = await host.addAccount(`lockable${++people}`)
  const rows = await host.database.selectFrom('api_keys').selectAll().execute()
  expect(rows.map(({ hash }) => String(hash))).toContain(Bun.SHA256.hash(apiKey, 'hex'))
  // Nothing that is kept of a key is long enough to compare it with.
  expect(JSON.stringify(rows)).not.toContain(apiKey.slice(0, 12))
  const nearly = `${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}`
  for (const wrong of [nearly, apiKey.slice(0, -1), `${apiKey}A`, 'hf_']) {
    using hash = spyOn(Bun.SHA256, 'hash')
    const headers = { authorization: `Bearer ${wrong}` }
    expect((await fetch(`${host.url}/api/v1/account`, { headers })).status).toBe(401)
    expect(hash.mock.calls.map(([text]) => text)).toContain(wrong)
  }
})

describe('timing of sign-in:', () => {
  /** How many passwords are hashed while one is tried. */
  async function hashings(username: string, password: string): Promise<number> {
    using hash = spyOn(Bun.password, 'hash')
    using verify = spyOn(Bun.password, 'verify')
    expect((await signIn(browser(), username, password)).error).toBe('WRONG_PASSWORD')
    return hash.mock.calls.length + verify.mock.calls.length
  }

  test('a wrong password costs one hashing, whether the account has one, has none, is disabled or is not there', async () => {
    const [one, off] = [await person(), await person()]
    await host.disableAccount(off.username)
    const { username: without } = await host.addAccount(`lockable${++people}`)
    const names = [one.username, off.username, without, 'nobody-is-called-so', 'no name at all', 'nul\u0000']
    for (const name of names) expect([name, await hashings(name, 'not it')]).toEqual([name, 1])
  })
})
