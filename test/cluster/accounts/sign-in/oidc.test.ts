import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../../../src/domain/clock.ts'
import { type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { CLIENT, type OidcServer, startOidcServer } from '../../../support/sign-in/oidc-server.ts'

const PUBLIC = 'http://files.example.org'
const NAMES: Readonly<Record<string, string>> = { one: 'Ada Lovelace', two: 'taken', three: '' }

let host: TestHoldfast
let other: OidcServer

beforeAll(async () => {
  other = await startOidcServer(
    () => `${PUBLIC}/sign-in/oauth2/callback/oidc`,
    (subject) => NAMES[subject] ?? subject,
  )
  const oidc = { issuer: other.issuer, name: 'Home', ...CLIENT }
  host = await startHoldfast({ publicUrl: PUBLIC, oidc })
}, 120_000)
afterAll(async () => {
  await host.stop()
  await other[Symbol.asyncDispose]()
})

/** Signs in there and comes back; returns where the site sends on to, or the code of what it refuses. */
async function come(browser: Visitor, subject: string, next = '/'): Promise<string | null> {
  const start = await browser.get(`/sign-in/oidc?next=${encodeURIComponent(next)}`)
  const back = new URL(await other.signIn(start.headers.get('location') ?? '', subject))
  const end = await browser.get(back.pathname + back.search, { 'sec-fetch-site': 'cross-site' })
  return end.error ?? end.headers.get('location')
}

const nameOf = async (browser: Visitor) =>
  (await browser.get('/api/v1/session')).data(z.object({ username: z.string() })).username

test('people of another server sign in by way of it, each to an account of their own', async () => {
  await host.addAccount('taken')
  const browser = visitor(() => host.url)
  expect(await come(browser, 'one', '/f/somewhere?page=2')).toBe('/f/somewhere?page=2')
  expect(await nameOf(browser)).toBe('ada-lovelace')
  const again = visitor(() => host.url)
  await come(again, 'one')
  expect(await nameOf(again)).toBe('ada-lovelace')
  // A name that somebody has is nobody else's, whatever the other server says.
  const second = visitor(() => host.url)
  await come(second, 'two')
  expect(await nameOf(second)).toMatch(/^taken-[0-9a-f]{4}$/)
  const nameless = visitor(() => host.url)
  await come(nameless, 'three')
  expect(await nameOf(nameless)).toMatch(/^user-[0-9a-f]{4}$/)
})

test('nobody is sent to another site afterwards', async () => {
  for (const next of ['https://evil.example/', '//evil.example/', '/\\evil.example/']) {
    expect(
      await come(
        visitor(() => host.url),
        'one',
        next,
      ),
    ).toBe('/files')
  }
})

test('what the other server gave to one browser is worth nothing in another', async () => {
  const browser = visitor(() => host.url)
  const start = await browser.get('/sign-in/oidc')
  const back = new URL(await other.signIn(start.headers.get('location') ?? '', 'one'))
  const stolen = visitor(() => host.url)
  expect((await stolen.get(back.pathname + back.search)).error).toBe('NOT_IDENTIFIED')
  expect((await stolen.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
})

test('who comes back is in a new session, and the one that the browser was in is over', async () => {
  const browser = visitor(() => host.url)
  await come(browser, 'one')
  const before = visitor(() => host.url)
  for (const [name, value] of browser.cookies) before.cookies.set(name, value)
  expect((await before.get('/api/v1/session')).status).toBe(200)
  await come(browser, 'one')
  expect((await before.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
})

test('three hundred in a quarter of an hour are sent on from one network', async () => {
  host.clock.advance(15 * MINUTE)
  const browser = visitor(() => host.url)
  const statuses = []
  for (let at = 0; at < 301; at++) statuses.push((await browser.get('/sign-in/oidc')).status)
  expect(new Set(statuses.slice(0, 300))).toEqual(new Set([303]))
  expect(statuses.at(-1)).toBe(429)
  host.clock.advance(15 * MINUTE)
})

test('a disabled account stays out', async () => {
  await host.disableAccount('ada-lovelace')
  const browser = visitor(() => host.url)
  expect(await come(browser, 'one')).toBe('ACCOUNT_DISABLED')
  expect(browser.cookies.has('holdfast.session_token')).toBe(false)
})

test('a server that never answers keeps nobody waiting', async () => {
  await using silent = await startSilentServer()
  const oidc = { issuer: `http://localhost:${silent.port}`, name: 'Home', ...CLIENT }
  const waiting = await startHoldfast({ oidc })
  try {
    expect((await visitor(() => waiting.url).get('/sign-in/oidc')).error).toBe('NOT_IDENTIFIED')
  } finally {
    await waiting.stop()
  }
}, 120_000)

/** Takes connections, and says nothing. */
async function startSilentServer(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = Bun.listen({ hostname: 'localhost', port: 0, socket: { data() {} } })
  return {
    port: server.port,
    [Symbol.asyncDispose]: async () => server.stop(true),
  }
}
