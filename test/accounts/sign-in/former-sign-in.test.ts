/** Passwords, passkeys, codes, sessions and linked identities from before: they are kept as better-auth has kept them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { HOUR } from '../../../src/domain/clock.ts'
import { type Visitor, visitor } from '../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { createAuthenticator } from '../../support/sign-in/authenticator.ts'
import { codesAt } from '../../support/sign-in/codes.ts'
import { type ForgingServer, startForgingServer } from '../../support/sign-in/forging-oidc-server.ts'
import { CLIENT } from '../../support/sign-in/oidc-server.ts'
import { comeBy } from '../../support/sign-in/oidc-visit.ts'
import { type FormerValues, formerRows, formerValuesKept, PUBLIC } from './former/values.ts'

let host: TestHoldfast
const codeOf = codesAt(() => host.clock.now())
let other: ForgingServer
let former: FormerValues

beforeAll(async () => {
  former = await formerValuesKept()
  other = startForgingServer()
  const oidc = { issuer: other.issuer, name: 'Home', ...CLIENT }
  host = await startHoldfast({ publicUrl: PUBLIC, oidc })
  await host.restart(async () => {
    await sql`delete from meta where key in ('link_secret', 'auth_secret')`.execute(host.database)
    for (const row of await formerRows()) await sql.raw(row).execute(host.database)
  })
  // Its sessions are over a month later.
  host.clock.leap(former.madeAt + HOUR - Date.now())
}, 120_000)
afterAll(async () => {
  await host.stop()
  await other[Symbol.asyncDispose]()
})

function browserOf(cookies: readonly (readonly [string, string])[] = []): Visitor {
  const browser = visitor(() => host.url)
  for (const [name, value] of cookies) browser.cookies.set(name, value)
  return browser
}

const sessionIn = async (browser: Visitor) => {
  const reply = await browser.get('/api/v1/session')
  return reply.error ?? reply.data(z.object({ username: z.string() })).username
}

const givePassword = (browser: Visitor, username: string, password = former.password) =>
  browser.send('POST', '/api/v1/session', { username, password })

const giveCode = async (browser: Visitor, code: string | undefined) =>
  (await browser.send('POST', '/api/v1/session/code', { code })).error

describe('somebody from before', () => {
  test('is still signed in where they were', async () => {
    expect(await sessionIn(browserOf(former.anna.cookies))).toBe('anna')
    expect(await sessionIn(browserOf(former.bert.cookies))).toBe('bert')
    expect(await sessionIn(browserOf(former.dora.cookies))).toStartWith('user')
    const forged = former.anna.cookies.map(([name, value]) => [name, value.replace(/^./, '_')] as const)
    expect(await sessionIn(browserOf(forged))).toBe('NOT_SIGNED_IN')
  })

  test('changes by their session what it takes a session for', async () => {
    const anna = browserOf(former.anna.cookies)
    const device = createAuthenticator(PUBLIC)
    const begun = await anna.send('POST', '/api/v1/passkeys/options', { password: former.password })
    const { challenge } = begun.data(z.object({ challenge: z.string() }))
    const answer = device.make(challenge)
    expect((await anna.send('POST', '/api/v1/passkeys', { name: 'new', answer })).error).toBeNull()
    const body = { password: former.password }
    expect((await anna.send('POST', '/api/v1/account/codes', body)).error).toBeNull()
  })

  test('signs in with their password, and with no other', async () => {
    expect((await givePassword(browserOf(), 'anna', 'not the password')).error).toBe('WRONG_PASSWORD')
    const browser = browserOf()
    expect((await givePassword(browser, 'anna')).error).toBeNull()
    expect(await sessionIn(browser)).toBe('anna')
  })

  test('signs in with the code of their app besides', async () => {
    const browser = browserOf()
    const next = (await givePassword(browser, 'bert')).data(z.object({ next: z.string() })).next
    expect(next).toBe('code')
    expect(await giveCode(browser, '000000')).toBe('WRONG_CODE')
    expect(await giveCode(browser, codeOf(former.bert.secret))).toBeNull()
    expect(await sessionIn(browser)).toBe('bert')
  })

  test('has the recovery codes that are left, and each works once', async () => {
    const [first, second] = former.bert.recoveryCodes
    const outcomes = []
    for (const code of [former.bert.usedUp, first, first, second]) {
      const browser = browserOf()
      await givePassword(browser, 'bert')
      outcomes.push(await giveCode(browser, code))
    }
    expect(outcomes).toEqual(['WRONG_CODE', null, 'WRONG_CODE', null])
  })

  test('gives their codes up by their session', async () => {
    const bert = browserOf(former.bert.cookies)
    const body = { password: former.password }
    expect((await bert.send('POST', '/api/v1/account/codes/delete', body)).error).toBeNull()
    expect(await sessionIn(bert)).toBe('bert')
    const next = (await givePassword(browserOf(), 'bert')).data(z.object({ next: z.string() })).next
    expect(next).toBe('signed in')
  })

  test('confirms the codes that they had begun to set up', async () => {
    const emil = browserOf(former.emil.cookies)
    const code = codeOf(former.emil.secret)
    expect((await emil.send('POST', '/api/v1/account/codes/confirm', { code })).error).toBeNull()
    expect(await sessionIn(emil)).toBe('emil')
    const next = (await givePassword(browserOf(), 'emil')).data(z.object({ next: z.string() })).next
    expect(next).toBe('code')
  })

  test('signs in with each of their passkeys, whose counters go on', async () => {
    const asked = z.object({ challenge: z.string() })
    const use = async (device: FormerValues['carla']['passkeys'][number], counter: number) => {
      const browser = browserOf()
      const { challenge } = (await browser.send('POST', '/api/v1/session/passkey/options')).data(asked)
      const answer = createAuthenticator(PUBLIC, device).prove(challenge, { counter })
      const { error } = await browser.send('POST', '/api/v1/session/passkey', { answer })
      return error ?? (await sessionIn(browser))
    }
    const [plain, counting] = former.carla.passkeys
    if (plain === undefined || counting === undefined) throw new Error('the fixture has two passkeys')
    expect([await use(plain, 0), await use(plain, 0)]).toEqual(['carla', 'carla'])
    expect(await use(counting, counting.counter)).toBe('NOT_IDENTIFIED')
    expect(await use(counting, counting.counter + 1)).toBe('carla')
    expect(await use(counting, counting.counter + 1)).toBe('NOT_IDENTIFIED')
  })

  test('comes from another server to the same account', async () => {
    const [before, now] = [browserOf(former.dora.cookies), browserOf()]
    expect(await comeBy(other, now, '/sign-in/oidc', { sub: former.dora.subject })).toBe('/files')
    expect(await sessionIn(now)).toBe(await sessionIn(before))
  })

  test('is known in their browser, whatever strangers guess', async () => {
    for (let tries = 0; tries < 11; tries++) await givePassword(browserOf(), 'anna', 'not the password')
    expect((await givePassword(browserOf(), 'anna')).error).toBe('RATE_LIMITED')
    expect((await givePassword(browserOf(former.anna.cookies), 'anna')).error).toBeNull()
  })
})
