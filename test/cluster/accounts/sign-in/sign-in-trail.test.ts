/** Sign-ins and lock-outs in the audit log, from which nothing can be removed: so few that nobody fills it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { LOCK_OUTS_A_DAY } from '../../../../src/core/audit-log.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import { makeFolder, openForm, submit, unlock } from '../../../support/clients/public.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { eventually } from '../../../support/eventually.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { administrator, type TestAdministrator } from '../../../support/sign-in/administrator.ts'
import { createAuthenticator } from '../../../support/sign-in/authenticator.ts'
import { codesAt } from '../../../support/sign-in/codes.ts'
import { CLIENT, type OidcServer, startOidcServer } from '../../../support/sign-in/oidc-server.ts'

const PUBLIC = 'http://files.example.org'

const folder = temporaryFolder()
let host: TestHoldfast
let other: OidcServer
let admin: TestAdministrator

beforeAll(async () => {
  other = await startOidcServer(
    () => `${PUBLIC}/sign-in/oauth2/callback/oidc`,
    () => 'from elsewhere',
  )
  const oidc = { issuer: other.issuer, name: 'Home', ...CLIENT }
  const trustedProxies = ['127.0.0.1', '::1']
  const logs = { folder: folder.path, accessDays: 0, isAnonymous: false }
  host = await startHoldfast({ publicUrl: PUBLIC, oidc, trustedProxies, signUp: 'open', logs })
  admin = await administrator(host)
}, 120_000)
afterAll(async () => {
  await host.stop()
  await other[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const codeOf = codesAt(() => host.clock.now())
const browser = () => visitor(() => host.url)

let addresses = 0
const somewhere = () => ({ 'x-forwarded-for': `198.51.${++addresses >> 8}.${addresses & 255}` })

let people = 0
/** Somebody whose sign-ins so far are too long ago to count. */
async function person(): Promise<Visitor & { readonly username: string }> {
  const { username } = await host.addAccount(`traced${++people}`)
  const at = await signedIn(host, username)
  host.clock.advance(10 * MINUTE)
  return { ...at, username }
}

async function signIn(
  username: string,
  password = PASSWORD,
  from: Record<string, string> = somewhere(),
): Promise<Visitor> {
  const at = browser()
  await at.send('POST', '/api/v1/session', { username, password }, from)
  return at
}

/** From now on the account takes a code. Returns the secret of its app. */
async function takeCodes(at: Visitor): Promise<string> {
  const made = await at.send('POST', '/api/v1/account/codes', { password: PASSWORD })
  const { secret } = made.data(z.object({ secret: z.string() }))
  await at.send('POST', '/api/v1/account/codes/confirm', { code: codeOf(secret) })
  return secret
}

/** How the account has signed in, the latest first. */
async function waysOf(username: string): Promise<unknown[]> {
  const deeds = await admin.deeds('account.signed_in')
  return deeds.filter(({ object }) => object === username).map(({ details }) => details.by)
}

const asked = z.object({ challenge: z.string() })

describe('a good sign-in is in the audit log', () => {
  test('with who, where and how', async () => {
    const { username } = await person()
    await signIn(username, PASSWORD, { 'x-forwarded-for': '203.0.113.7' })
    const [latest] = await admin.deeds('account.signed_in')
    expect(latest).toEqual({
      account: { id: expect.any(Number), username },
      address: '203.0.113.7',
      act: 'account.signed_in',
      object: username,
      details: { by: 'password' },
    })
  })

  test('by every way: password, form, sign-up, code, passkey and the other server', async () => {
    const at = await person()
    const { username } = at
    await browser().submit('/sign-in', { username, password: PASSWORD }, somewhere())
    expect(await waysOf(username)).toEqual(['password', 'password'])

    await at.send('POST', '/api/v1/session/proof', { password: PASSWORD })
    const device = createAuthenticator(PUBLIC)
    const begun = await at.send('POST', '/api/v1/passkeys/options', { password: PASSWORD })
    await at.send('POST', '/api/v1/passkeys', {
      name: 'Here',
      answer: device.make(begun.data(asked).challenge),
    })
    host.clock.advance(10 * MINUTE)
    const keyed = browser()
    const { challenge } = (await keyed.send('POST', '/api/v1/session/passkey/options')).data(asked)
    const proved = await keyed.send('POST', '/api/v1/session/passkey', { answer: device.prove(challenge) })
    expect(proved.error).toBeNull()
    expect((await waysOf(username))[0]).toBe('passkey')

    const secret = await takeCodes(at)
    host.clock.advance(10 * MINUTE)
    const halfway = await signIn(username)
    expect(await waysOf(username)).toHaveLength(3)
    await halfway.send('POST', '/api/v1/session/code', { code: codeOf(secret) })
    expect((await waysOf(username))[0]).toBe('password and code')

    const start = await browser().get('/sign-in/oidc?next=/')
    const back = new URL(await other.signIn(start.headers.get('location') ?? '', 'from elsewhere'))
    const comer = browser()
    comer.keep(start.headers)
    const end = await comer.get(back.pathname + back.search, { 'sec-fetch-site': 'cross-site' })
    expect(end.error).toBeNull()
    expect((await admin.deeds('account.signed_in'))[0]?.details).toEqual({ by: 'OpenID Connect' })

    const fresh = `fresh${people}`
    await browser().send('POST', '/api/v1/account', { username: fresh, password: PASSWORD }, somewhere())
    expect(await waysOf(fresh)).toEqual(['password'])
  })

  test('once an account in ten minutes, however many come at once, and without what is no sign-in', async () => {
    const { username } = await person()
    const before = (await waysOf(username)).length
    const many = await Promise.all(Array.from({ length: 20 }, () => signIn(username)))
    expect(await waysOf(username)).toHaveLength(before + 1)
    host.clock.advance(9 * MINUTE)
    await signIn(username)
    expect(await waysOf(username)).toHaveLength(before + 1)
    host.clock.advance(MINUTE)
    // A session that is used, one that takes the place of another, and wrong passwords.
    await many[0]?.get('/api/v1/session')
    await many[0]?.send('POST', '/api/v1/account/codes', { password: PASSWORD })
    await signIn(username, 'not it')
    expect(await waysOf(username)).toHaveLength(before + 1)
    await signIn(username)
    expect(await waysOf(username)).toHaveLength(before + 2)
  })
})

test('a wrong answer of the other server, code or passkey is in the log of security events', async () => {
  const from = { 'x-forwarded-for': '203.0.113.20' }
  const path = join(folder.path, 'security.log')
  const events = () =>
    (existsSync(path) ? readFileSync(path, 'utf8') : '')
      .split('\n')
      .filter((line) => line.endsWith(` from ${from['x-forwarded-for']}`))
  const comer = browser()
  const start = await comer.get('/sign-in/oidc?next=/', from)
  const state = new URL(start.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const answer = new URLSearchParams({ code: 'made up', state })
  const back = await comer.get(`/sign-in/oauth2/callback/oidc?${answer}`, {
    ...from,
    'sec-fetch-site': 'cross-site',
  })
  expect(back.status).toBe(403)
  const keyed = browser()
  const { challenge } = (await keyed.send('POST', '/api/v1/session/passkey/options')).data(asked)
  const answered = { answer: createAuthenticator(PUBLIC).prove(challenge) }
  const refused = await keyed.send('POST', '/api/v1/session/passkey', answered, from)
  expect(refused.error).toBe('NOT_IDENTIFIED')
  const at = await person()
  const secret = await takeCodes(at)
  const halfway = await signIn(at.username)
  const code = codeOf(secret) === '000000' ? '000001' : '000000'
  const wrong = await halfway.send('POST', '/api/v1/session/code', { code }, from)
  expect(wrong.error).toBe('WRONG_CODE')
  await eventually('all three are noted', () => events().length >= 3)
  expect(events().map((event) => event.replace(/^\S+Z /, ''))).toEqual(
    Array(3).fill('sign-in refused from 203.0.113.20'),
  )
})

describe('a lock-out is in the audit log', () => {
  const locked = () => admin.deeds('tries.locked')
  const guess = async (username: string, from: Record<string, string>, times: number) => {
    for (let each = 0; each < times; each++) await signIn(username, 'not it', from)
  }

  test('once, with the account that was guessed at, and never the name that a stranger gave', async () => {
    const { username } = await person()
    const before = (await locked()).length
    await guess(username, { 'x-forwarded-for': '203.0.113.9' }, 10)
    expect(await locked()).toHaveLength(before)
    await guess(username, { 'x-forwarded-for': '203.0.113.9' }, 3)
    expect((await locked()).slice(0, -before || undefined)).toEqual([
      {
        account: null,
        address: '203.0.113.9',
        act: 'tries.locked',
        object: username,
        details: { of: 'sign-in' },
      },
    ])
    await guess('no such name', { 'x-forwarded-for': '203.0.113.10' }, 11)
    expect((await locked())[0]).toMatchObject({ object: 'sign-in', details: {} })
    host.clock.advance(15 * MINUTE)
    await guess(username, { 'x-forwarded-for': '203.0.113.9' }, 11)
    expect(await locked()).toHaveLength(before + 3)
  })

  test('for passwords of folders, and for those who confirm who they are', async () => {
    const { apiKey } = await host.addAccount(`traced${++people}`)
    const folder = await makeFolder(host, apiKey, { password: 'sesame' })
    const from = somewhere()
    const form = await openForm(host, `/f/${folder}`)
    for (let each = 0; each < 12; each++) await submit(host, form, 'not it', from)
    expect((await locked())[0]).toMatchObject({
      account: null,
      object: expect.stringMatching(/^password of folder \d+$/),
      address: from['x-forwarded-for'],
    })
    const at = await person()
    for (let each = 0; each < 12; each++) {
      await at.send('POST', '/api/v1/session/proof', { password: 'not it' })
    }
    expect((await locked())[0]).toMatchObject({
      account: { username: at.username },
      object: at.username,
      details: { of: 'sign-in' },
    })
    expect(await unlock(host, `/f/${folder}`, 'sesame', somewhere())).toBeDefined()
  })

  test('a thousand times a day at most, whatever strangers do, and again the day after', async () => {
    const count = async () => {
      const rows = host.database.selectFrom('audit_log').where('act', '=', 'tries.locked')
      return Number(
        (await rows.select((row) => row.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()).n,
      )
    }
    host.clock.advance(DAY)
    const before = await count()
    const at = host.clock.now() - HOUR
    const row = { at, act: 'tries.locked', object: 'sign-in', details: '{}' } as const
    const rows = Array.from({ length: LOCK_OUTS_A_DAY - 1 }, () => row)
    for (let from = 0; from < rows.length; from += 100) {
      await host.database
        .insertInto('audit_log')
        .values(rows.slice(from, from + 100))
        .execute()
    }
    const attackers = Array.from({ length: 4 }, somewhere)
    await Promise.all(attackers.map((from) => guess('nobody here', from, 11)))
    expect(await count()).toBe(before + LOCK_OUTS_A_DAY)
    host.clock.advance(23 * HOUR)
    await guess('nobody here', somewhere(), 11)
    expect(await count()).toBe(before + LOCK_OUTS_A_DAY + 1)
  })
})
