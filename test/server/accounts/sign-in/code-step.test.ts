/** The step between the password and the session, for accounts that take a code. */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE, SECOND } from '../../../../src/domain/clock.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { codesAt } from '../../../support/sign-in/codes.ts'

const STEP = 'holdfast.password'

const codeOf = codesAt(() => host.clock.now())

const host = await hostOfFile()

let people = 0
const newBrowser = () => visitor(() => host.url)
const made = z.object({ secret: z.string(), recovery_codes: z.array(z.string()) })

interface Person extends Visitor {
  readonly username: string
  readonly secret: string
  readonly recovery: readonly string[]
}

async function begun(): Promise<Person> {
  // Nobody has the tries of the person before.
  host.clock.advance(16 * MINUTE)
  const { username } = await host.addAccount(`stepping${++people}`)
  const at = await signedIn(host, username)
  const { secret, recovery_codes } = (
    await at.send('POST', '/api/v1/account/codes', { password: PASSWORD })
  ).data(made)
  return { ...at, username, secret, recovery: recovery_codes }
}

const confirm = async (at: Visitor, code: string) =>
  (await at.send('POST', '/api/v1/account/codes/confirm', { code })).error

async function withCodes(): Promise<Person> {
  const person = await begun()
  expect(await confirm(person, codeOf(person.secret))).toBeNull()
  // The next codes are others.
  host.clock.advance(MINUTE)
  return person
}

async function halfway({ username }: Person): Promise<Visitor> {
  const at = newBrowser()
  const reply = await at.send('POST', '/api/v1/session', { username, password: PASSWORD })
  expect(reply.data(z.object({ next: z.string() })).next).toBe('code')
  return at
}

const enter = async (at: Visitor, code: string | undefined) =>
  (await at.send('POST', '/api/v1/session/code', { code })).error

async function sessionsOf({ username }: Person): Promise<number> {
  const rows = host.database
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select('sessions.id')
    .where('accounts.username', '=', username)
  return (await rows.execute()).length
}

/** The same step in browsers of thieves, who have its cookie and none besides. */
function copiesOf(at: Visitor, count: number): Visitor[] {
  return Array.from({ length: count }, () => {
    const copy = newBrowser()
    copy.cookies.set(STEP, at.cookies.get(STEP) ?? '')
    return copy
  })
}

describe('the password alone', () => {
  test('begins no session, and ends none but that of the browser', async () => {
    const person = await withCodes()
    await halfway(person)
    expect(await sessionsOf(person)).toBe(1)
    expect((await person.get('/api/v1/session')).status).toBe(200)
  })

  test('is worth ten minutes', async () => {
    const person = await withCodes()
    const [inTime, late] = [await halfway(person), await halfway(person)]
    host.clock.advance(10 * MINUTE - 10 * SECOND)
    expect(await enter(inTime, codeOf(person.secret))).toBeNull()
    host.clock.advance(20 * SECOND)
    expect(await enter(late, '000000')).toBe('NOT_SIGNED_IN')
    expect(await enter(late, codeOf(person.secret, 1))).toBe('NOT_SIGNED_IN')
  })
})

describe('a step', () => {
  test('leads to one session: with another right code it leads nowhere', async () => {
    const person = await withCodes()
    const at = await halfway(person)
    const [copy] = copiesOf(at, 1)
    expect(await enter(at, codeOf(person.secret))).toBeNull()
    expect(at.cookies.has(STEP)).toBe(false)
    expect(await enter(copy ?? at, person.recovery[0])).toBe('NOT_SIGNED_IN')
    expect(await sessionsOf(person)).toBe(2)
    // The recovery code was not used up by that.
    expect(await enter(await halfway(person), person.recovery[0])).toBeNull()
  })

  test('has five codes looked at, also when they come at the same moment', async () => {
    const person = await withCodes()
    const at = await halfway(person)
    const copies = copiesOf(at, 9)
    const errors = await Promise.all(copies.map((copy) => enter(copy, '000000')))
    expect(errors.filter((error) => error === 'WRONG_CODE')).toHaveLength(5)
    expect(errors).toContain('RATE_LIMITED')
    expect(await enter(at, codeOf(person.secret))).toBe('NOT_SIGNED_IN')
  })

  test('is none of another kind, nor one that was never begun', async () => {
    const person = await withCodes()
    const at = await halfway(person)
    const asked = newBrowser()
    await asked.send('POST', '/api/v1/session/passkey/options')
    at.cookies.set(STEP, asked.cookies.get('holdfast.passkey') ?? '')
    expect(await enter(at, codeOf(person.secret))).toBe('NOT_SIGNED_IN')
    at.cookies.set(STEP, 'a'.repeat(32))
    expect(await enter(at, codeOf(person.secret))).toBe('NOT_SIGNED_IN')
    at.cookies.delete(STEP)
    expect(await enter(at, codeOf(person.secret))).toBe('NOT_SIGNED_IN')
  })

  test('ends with the codes, and with the account', async () => {
    const [given, disabled] = [await withCodes(), await withCodes()]
    const steps = [await halfway(given), await halfway(disabled)] as const
    await given.send('POST', '/api/v1/account/codes/delete', { password: PASSWORD })
    await host.disableAccount(disabled.username)
    expect(await enter(steps[0], codeOf(given.secret))).toBe('INVALID_REQUEST')
    expect(await enter(steps[1], codeOf(disabled.secret))).toBe('ACCOUNT_DISABLED')
  })
})

describe('a code of the app', () => {
  test('signs in once, also at the same moment', async () => {
    const person = await withCodes()
    const browsers = [await halfway(person), await halfway(person), await halfway(person)]
    const code = codeOf(person.secret)
    const outcomes = await Promise.all(browsers.map(async (at) => (await enter(at, code)) ?? 'in'))
    expect(outcomes.sort()).toEqual(['WRONG_CODE', 'WRONG_CODE', 'in'])
    expect(await sessionsOf(person)).toBe(2)
  })

  test('is taken a half minute early or late, and no further', async () => {
    const person = await begun()
    expect(await confirm(person, codeOf(person.secret, -3))).toBe('WRONG_CODE')
    expect(await confirm(person, codeOf(person.secret, 3))).toBe('WRONG_CODE')
    expect(await confirm(person, codeOf(person.secret, 1))).toBeNull()
    host.clock.advance(60 * SECOND)
    expect(await enter(await halfway(person), codeOf(person.secret))).toBeNull()
  })

  test('sets codes up once: the session goes on as a new one, and its cookie from before is worth nothing', async () => {
    const person = await begun()
    const before = newBrowser()
    for (const [name, value] of person.cookies) before.cookies.set(name, value)
    expect(await confirm(person, '00000a')).toBe('WRONG_CODE')
    expect(await confirm(person, person.recovery[0] ?? '')).toBe('WRONG_CODE')
    expect((await before.get('/api/v1/session')).status).toBe(200)
    expect(await confirm(person, codeOf(person.secret))).toBeNull()
    expect((await person.get('/api/v1/session')).status).toBe(200)
    expect((await before.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
    expect(await sessionsOf(person)).toBe(1)
    host.clock.advance(MINUTE)
    const again = { code: codeOf(person.secret) }
    const reply = await person.send('POST', '/api/v1/account/codes/confirm', again)
    expect([reply.error, reply.headers.getSetCookie()]).toEqual([null, []])
    expect((await person.send('POST', '/api/v1/account/codes/confirm', again)).error).toBe('WRONG_CODE')
  })
})
