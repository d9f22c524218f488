/** What outlasts a session asks for the sign-in again: by the password, a passkey or the other server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../../../src/domain/clock.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { administrator } from '../../../support/sign-in/administrator.ts'
import { createAuthenticator } from '../../../support/sign-in/authenticator.ts'
import { type ForgingServer, startForgingServer } from '../../../support/sign-in/forging-oidc-server.ts'
import { CLIENT } from '../../../support/sign-in/oidc-server.ts'
import { comeBy } from '../../../support/sign-in/oidc-visit.ts'

const PUBLIC = 'http://files.example.org'
const AGAIN = 'REAUTHENTICATION_REQUIRED'

let host: TestHoldfast
let other: ForgingServer

beforeAll(async () => {
  other = startForgingServer()
  const oidc = { issuer: other.issuer, name: 'Home', ...CLIENT }
  host = await startHoldfast({ publicUrl: PUBLIC, signUp: 'open', oidc })
}, 120_000)
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

describe('ten minutes after signing in', () => {
  test('everything that outlasts the session asks for the sign-in again, and nothing else does', async () => {
    const at = await person()
    await host.makeAdmin(at.username)
    const { id } = await host.addAccount(`proving${++people}`)
    const lasting = [
      ['POST', '/api/v1/key', { name: 'a key', scopes: ['read'] }],
      ['POST', '/api/v1/webhooks', { url: 'https://hooks.example.org/' }],
      ['PATCH', '/api/v1/webhooks/1', { url: 'https://hooks.example.org/' }],
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
    expect((await at.send('PATCH', '/api/v1/webhooks/1', { kinds: null })).status).toBe(404)
    expect((await at.send('PATCH', '/api/v1/account', { display_name: 'Ann' })).status).toBe(200)
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
    expect(await comeBy(other, at, '/sign-in/oidc', { sub: 'grace' })).toBe('/files')
    host.clock.advance(10 * MINUTE)
    expect(await makeKey(at)).toBe(AGAIN)
    const now = Math.floor(Date.now() / 1000)
    const prove = (claims: Record<string, unknown>) => comeBy(other, at, '/sign-in/oidc?prove=1', claims)
    expect(await prove({ sub: 'grace', auth_time: now - 3600 })).toBe('NOT_IDENTIFIED')
    expect(await prove({ sub: 'somebody-else', auth_time: now })).toBe('NOT_IDENTIFIED')
    expect(await makeKey(at)).toBe(AGAIN)
    expect(await prove({ sub: 'grace', auth_time: now })).toBe('/sign-in/proved')
    expect(await makeKey(at)).toBeNull()
    expect((await at.get('/sign-in/proved')).status).toBe(200)
  })
})

test('a sign-in at the other server proves the session that has asked for it, and no later one of the browser', async () => {
  const at = visitor(() => host.url)
  expect(await comeBy(other, at, '/sign-in/oidc', { sub: 'heidi' })).toBe('/files')
  const later = visitor(() => host.url)
  expect(await comeBy(other, later, '/sign-in/oidc', { sub: 'heidi' })).toBe('/files')
  host.clock.advance(10 * MINUTE)
  const now = Math.floor(Date.now() / 1000)
  const name = 'holdfast.session_token'
  const proved = await comeBy(
    other,
    at,
    '/sign-in/oidc?prove=1',
    { sub: 'heidi', auth_time: now },
    async () => at.cookies.set(name, later.cookies.get(name) ?? ''),
  )
  expect([proved, await makeKey(at)]).toEqual(['NOT_IDENTIFIED', AGAIN])
})

async function signedInElsewhere(username: string): Promise<Visitor> {
  const at = visitor(() => host.url)
  expect((await at.send('POST', '/api/v1/session', { username, password: PASSWORD })).status).toBe(200)
  return at
}

describe('the audit log', () => {
  const provedBy = async (username: string) => {
    const deeds = await (await administrator(host)).deeds('identity.proved')
    return deeds.filter(({ object }) => object === username)
  }

  test('tells who has confirmed a sign-in, from where and how, once in ten minutes', async () => {
    const at = await person()
    const prove = (password: string) => at.send('POST', '/api/v1/session/proof', { password })
    expect((await prove(PASSWORD)).status).toBe(200)
    expect(await provedBy(at.username)).toEqual([])
    host.clock.advance(10 * MINUTE)
    await prove('not it')
    expect(await provedBy(at.username)).toEqual([])
    await prove(PASSWORD)
    await prove(PASSWORD)
    expect(await provedBy(at.username)).toEqual([
      {
        account: { id: expect.any(Number), username: at.username },
        address: expect.stringMatching(/^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/),
        act: 'identity.proved',
        object: at.username,
        details: { by: 'password' },
      },
    ])
  })

  test('tells that somebody has deleted their own account', async () => {
    const at = await person()
    const gone = await at.send('POST', '/api/v1/account/delete', {
      username: at.username,
      password: PASSWORD,
    })
    expect(gone.status).toBe(200)
    const deeds = await (await administrator(host)).deeds('account.removed')
    expect(deeds[0]).toMatchObject({ object: at.username, account: { username: expect.any(String) } })
  })
})

test('a stolen session guesses ten times an hour, and locks no other session', async () => {
  const at = await person()
  const elsewhere = await signedInElsewhere(at.username)
  const guess = async () => (await at.send('POST', '/api/v1/session/proof', { password: 'not it' })).error
  const codes: (string | null)[] = []
  for (let tries = 0; tries < 11; tries++) codes.push(await guess())
  expect(codes).toEqual([...Array(10).fill('WRONG_PASSWORD'), 'RATE_LIMITED'])
  expect((await elsewhere.send('POST', '/api/v1/session/proof', { password: PASSWORD })).status).toBe(200)
})
