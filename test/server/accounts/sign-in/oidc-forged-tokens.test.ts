/** What an OpenID Connect server says counts only in a token that is its own, for this client, for this sign-in, and in time. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOidcExchange, usableOidc } from '../../../../src/accounts/sign-in/oidc.ts'
import { HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import { type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import {
  byAnotherKey,
  byTheSecret,
  type Claims,
  type Forgery,
  type ForgingServer,
  good,
  noToken,
  startForgingServer,
  unsigned,
} from '../../../support/sign-in/forging-oidc-server.ts'
import { CLIENT } from '../../../support/sign-in/oidc-server.ts'

const SESSION = 'holdfast.session_token'

let host: TestHoldfast
let other: ForgingServer

beforeAll(async () => {
  other = startForgingServer()
  host = await startHoldfast({
    publicUrl: 'http://files.example.org',
    signUp: 'open',
    trustedProxies: ['127.0.0.1', '::1'],
    oidc: { issuer: other.issuer, name: 'Home', ...CLIENT },
  })
}, 120_000)
afterAll(async () => {
  await host.stop()
  await other[Symbol.asyncDispose]()
})

let people = 0
const somewhere = () => ({ 'x-forwarded-for': `198.51.100.${++people}` })

async function comeBack(browser: Visitor, forgery: Forgery, change: Record<string, string> = {}) {
  const from = somewhere()
  const start = await browser.get('/sign-in/oidc', from)
  const asked = new URL(start.headers.get('location') ?? '').searchParams
  other.expect(asked.get('nonce'))
  other.forge(forgery)
  const answer = new URLSearchParams({ code: 'any', state: asked.get('state') ?? '', ...change })
  return browser.get(`/sign-in/oauth2/callback/oidc?${answer}`, { ...from, 'sec-fetch-site': 'cross-site' })
}

const changed = (change: Claims) => (claims: Claims) => good({ ...claims, ...change })

test('a token that is right in everything signs in', async () => {
  const browser = visitor(() => host.url)
  expect((await comeBack(browser, good)).headers.get('location')).toBe('/files')
  expect((await browser.get('/api/v1/session')).status).toBe(200)
})

test.each([
  ['is not signed', unsigned],
  ['is signed by the secret of the client', byTheSecret],
  ['is signed by another key', byAnotherKey],
  ['is missing', noToken],
  ['is of another issuer', changed({ iss: 'https://evil.example' })],
  ['is for another client', changed({ aud: 'somebody-else' })],
  ['is for several, of which another is authorized', changed({ aud: ['files', 'other'], azp: 'other' })],
  ['has expired', changed({ exp: Math.floor(Date.now() / 1000) - HOUR / 1000 })],
  ['never expires', changed({ exp: undefined })],
  ['has no nonce', changed({ nonce: undefined })],
  ['has the nonce of another sign-in', changed({ nonce: 'another' })],
  ['names nobody', changed({ sub: undefined })],
] satisfies [string, Forgery][])('a forged token: one that %s signs nobody in', async (_, forgery) => {
  const browser = visitor(() => host.url)
  expect((await comeBack(browser, forgery)).error).toBe('NOT_IDENTIFIED')
  expect(browser.cookies.has(SESSION)).toBe(false)
})

test('an answer with the state of another sign-in signs nobody in', async () => {
  const browser = visitor(() => host.url)
  expect((await comeBack(browser, good, { state: 'another' })).error).toBe('NOT_IDENTIFIED')
  expect(browser.cookies.has(SESSION)).toBe(false)
})

test('an answer that is tried again and again asks the other server three hundred times in a quarter of an hour', async () => {
  const browser = visitor(() => host.url)
  const from = somewhere()
  const errors: (string | null)[] = []
  for (let tries = 0; tries < 301; tries++) {
    errors.push((await browser.get('/sign-in/oauth2/callback/oidc?code=any&state=any', from)).error)
  }
  expect(errors.slice(0, 300)).toEqual(Array(300).fill('NOT_IDENTIFIED'))
  expect(errors.at(-1)).toBe('RATE_LIMITED')
})

const exchange = (clock = host.clock) =>
  createOidcExchange({ issuer: other.issuer, name: 'Home', ...CLIENT }, clock.monotonic)
const begun = (asked: Promise<unknown>) =>
  asked.then(
    () => 'begun',
    () => 'failed',
  )

test('what the other server has said of itself is believed for an hour, and then asked for once', async () => {
  const known = exchange()
  const begin = () => begun(known.begin('http://files.example.org/back', false))
  const before = other.discoveries()
  expect(await Promise.all([begin(), begin()])).toEqual(['begun', 'begun'])
  expect(other.discoveries()).toBe(before + 1)
  host.clock.advance(HOUR - MINUTE)
  await begin()
  expect(other.discoveries()).toBe(before + 1)
  host.clock.advance(MINUTE)
  expect(await Promise.all([begin(), begin(), begin()])).toEqual(['begun', 'begun', 'begun'])
  expect(other.discoveries()).toBe(before + 2)
})

test('a server that answers without an end, or under another name, is not believed, and is asked again', async () => {
  const known = exchange()
  const begin = () => begun(known.begin('http://files.example.org/back', false))
  let sent = 0
  const pull = (controller: ReadableStreamDefaultController) => {
    sent += 65_536
    controller.enqueue(new Uint8Array(65_536).fill(32))
  }
  const headers = { 'content-type': 'application/json' }
  other.discoverAs(() => new Response(new ReadableStream({ pull }), { headers }))
  expect(await begin()).toBe('failed')
  expect(sent).toBeLessThan(64 * 1024 ** 2)
  other.discoverAs(() => Response.json({ issuer: 'https://evil.example', jwks_uri: `${other.issuer}/keys` }))
  expect(await begin()).toBe('failed')
  other.discoverAs(null)
  expect(await begin()).toBe('begun')
})

test('an issuer without TLS on another machine switches this way of signing in off, and the log says so', async () => {
  const oidc = { issuer: 'http://id.example.org', name: 'Home', ...CLIENT }
  const said: string[] = []
  expect(usableOidc(oidc, (message) => said.push(message))).toBeNull()
  expect(said.join()).toContain('HOLDFAST_OIDC_ISSUER has to begin with https://')
  for (const issuer of [
    'https://id.example.org',
    'http://localhost:8080',
    'http://127.8.0.1',
    'http://[::1]',
  ]) {
    expect(usableOidc({ ...oidc, issuer }, (message) => said.push(message))?.issuer).toBe(issuer)
  }
  expect(said).toHaveLength(1)
  const careful = await startHoldfast({ oidc })
  try {
    const browser = visitor(() => careful.url)
    expect((await browser.get('/sign-in')).text).not.toContain('Sign in with Home')
    expect((await browser.get('/sign-in/oidc')).error).toBe('NOT_FOUND')
  } finally {
    await careful.stop()
  }
})
