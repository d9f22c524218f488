/** What outlasts a session asks for the sign-in again: by the password, a passkey or the other server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../src/domain/clock.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { type ForgingServer, good, startForgingServer } from '../support/forging-oidc-server.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'
import { CLIENT } from '../support/oidc-server.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../support/site-visitor.ts'

const PUBLIC = 'http://files.example.org'
const AGAIN = 'REAUTHENTICATION_REQUIRED'

let host: TestHoldfast
let other: ForgingServer

beforeAll(async () => {
  other = startForgingServer()
  const oidc = { issuer: other.issuer, name: 'Home', ...CLIENT }
  host = await startHoldfast({ publicUrl: PUBLIC, signUp: 'open', oidc })
}, 60_000)
afterAll(async () => {
  await host.stop()
  await other[Symbol.asyncDispose]()
})

let people = 0
async function person(): Promise<Visitor & { readonly username: string }> {
  const { username } = await host.addAccount(`proving${++people}`)
  return { ...(await signedIn(host, username)), username }
}

const makeKey = async (at: Visitor) =>
  (await at.send('POST', '/api/v1/key', { name: 'a key', scopes: ['read'] })).error

/** Goes to the other server and comes back; returns where the site sends on to, or what it refuses. */
async function comeBy(at: Visitor, start: string, claims: Record<string, unknown>): Promise<string | null> {
  const asked = new URL((await at.get(start)).headers.get('location') ?? '').searchParams
  other.expect(asked.get('nonce'))
  other.forge((usual) => good({ ...usual, ...claims }))
  const answer = new URLSearchParams({ code: 'any', state: asked.get('state') ?? '' })
  const end = await at.get(`/sign-in/oauth2/callback/oidc?${answer}`, {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
  })
  return end.error ?? end.headers.get('location')
}

describe('ten minutes after signing in', () => {
  test('everything that outlasts the session asks for the sign-in again, and nothing else does', async () => {
    const at = await person()
    await host.makeAdmin(at.username)
    const { id } = await host.addAccount(`proving${++people}`)
    const lasting = [
      ['POST', '/api/v1/key', { name: 'a key', scopes: ['read'] }],
      ['POST', '/api/v1/passkeys/options', {}],
      ['POST', '/api/v1/account/codes', {}],
      ['POST', '/api/v1/account/codes/recovery', {}],
      ['POST', '/api/v1/account/codes/delete', {}],
      ['POST', '/api/v1/account/mail/delete', {}],
      ['PATCH', '/api/v1/account', { username: 'another-name' }],
      ['POST', '/api/v1/account/delete', { username: at.username }],
      ['POST', '/api/v1/invitations', undefined],
      ['PATCH', `/api/v1/admin/account/${id}`, { is_admin: true }],
      ['POST', `/api/v1/admin/account/${id}/reset`, {}],
      ['POST', `/api/v1/admin/account/${id}/delete`, { username: `proving${people}` }],
    ] as const
    host.clock.advance(10 * MINUTE)
    for (const [method, path, body] of lasting) {
      const { status, error } = await at.send(method, path, body)
      expect([path, status, error]).toEqual([path, 403, AGAIN])
    }
    expect((await at.send('PATCH', `/api/v1/admin/account/${id}`, { quota: 5 })).status).toBe(200)
    expect((await at.send('POST', '/api/v1/folder', { name: 'any' })).status).toBe(201)
  })

  test('a new password takes the present one, however recent the last proof', async () => {
    const at = await person()
    const change = { new_password: 'granite lantern under moss' }
    expect((await at.send('PATCH', '/api/v1/account', change)).error).toBe('PASSWORD_REQUIRED')
  })
})

describe('who has signed in a while ago goes on', () => {
  test('with the password, for ten minutes and in that session alone', async () => {
    const at = await person()
    const elsewhere = await signedInElsewhere(at.username)
    host.clock.advance(9 * MINUTE)
    expect(await makeKey(at)).toBeNull()
    host.clock.advance(MINUTE)
    expect(await makeKey(at)).toBe(AGAIN)
    const prove = (password: string) => at.send('POST', '/api/v1/session/proof', { password })
    expect((await prove('not it')).error).toBe('WRONG_PASSWORD')
    expect(await makeKey(at)).toBe(AGAIN)
    expect((await prove(PASSWORD)).status).toBe(200)
    expect([await makeKey(at), await makeKey(elsewhere)]).toEqual([null, AGAIN])
    host.clock.advance(10 * MINUTE)
    expect(await makeKey(at)).toBe(AGAIN)
  })

  test('with a passkey of the account, and not with that of another', async () => {
    const [at, stranger] = [await person(), await person()]
    const [device, theirs] = [createAuthenticator(PUBLIC), createAuthenticator(PUBLIC)]
    const asked = z.object({ challenge: z.string() })
    for (const [who, key] of [
      [at, device],
      [stranger, theirs],
    ] as const) {
      const { challenge } = (await who.send('POST', '/api/v1/passkeys/options', {})).data(asked)
      await who.send('POST', '/api/v1/passkeys', { name: 'any', answer: key.make(challenge) })
    }
    host.clock.advance(10 * MINUTE)
    const prove = async (by: typeof device) => {
      const { challenge } = (await at.send('POST', '/api/v1/session/passkey/options')).data(asked)
      return (await at.send('POST', '/api/v1/session/proof/passkey', { answer: by.prove(challenge) })).error
    }
    expect([await prove(theirs), await makeKey(at)]).toEqual(['NOT_IDENTIFIED', AGAIN])
    expect([await prove(device), await makeKey(at)]).toEqual([null, null])
    const sessions = (await at.get('/api/v1/sessions')).data(z.array(z.unknown()))
    expect(sessions).toHaveLength(1)
  })

  test('with the other server, which has to have asked them again and to mean the same person', async () => {
    const at = visitor(() => host.url)
    expect(await comeBy(at, '/sign-in/oidc', { sub: 'grace' })).toBe('/files')
    host.clock.advance(10 * MINUTE)
    expect(await makeKey(at)).toBe(AGAIN)
    const now = Math.floor(Date.now() / 1000)
    const prove = (claims: Record<string, unknown>) => comeBy(at, '/sign-in/oidc?prove=1', claims)
    expect(await prove({ sub: 'grace', auth_time: now - 3600 })).toBe('NOT_IDENTIFIED')
    expect(await prove({ sub: 'somebody-else', auth_time: now })).toBe('NOT_IDENTIFIED')
    expect(await makeKey(at)).toBe(AGAIN)
    expect(await prove({ sub: 'grace', auth_time: now })).toBe('/sign-in/proved')
    expect(await makeKey(at)).toBeNull()
    expect((await at.get('/sign-in/proved')).status).toBe(200)
  })
})

async function signedInElsewhere(username: string): Promise<Visitor> {
  const at = visitor(() => host.url)
  expect((await at.send('POST', '/api/v1/session', { username, password: PASSWORD })).status).toBe(200)
  return at
}

test('a stolen session guesses ten times an hour, and locks no other session', async () => {
  const at = await person()
  const elsewhere = await signedInElsewhere(at.username)
  const guess = async () => (await at.send('POST', '/api/v1/session/proof', { password: 'not it' })).error
  const codes: (string | null)[] = []
  for (let tries = 0; tries < 11; tries++) codes.push(await guess())
  expect(codes).toEqual([...Array(10).fill('WRONG_PASSWORD'), 'RATE_LIMITED'])
  expect((await elsewhere.send('POST', '/api/v1/session/proof', { password: PASSWORD })).status).toBe(200)
})
