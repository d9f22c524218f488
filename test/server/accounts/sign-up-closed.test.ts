/** A server where nobody signs up, in whatever way they come. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { insertOneTimeLink } from '../../../src/accounts/one-time-links.ts'
import { hashToken } from '../../../src/core/hmac.ts'
import { HOUR } from '../../../src/domain/clock.ts'
import { elements } from '../../support/clients/public.ts'
import { PASSWORD, visitor } from '../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { administrator, type TestAdministrator } from '../../support/sign-in/administrator.ts'
import { CLIENT, type OidcServer, startOidcServer } from '../../support/sign-in/oidc-server.ts'

const PUBLIC = 'http://files.example.org'
const OLD = 'made-while-it-was-not-closed'

let host: TestHoldfast
let other: OidcServer
let root: TestAdministrator
beforeAll(async () => {
  other = await startOidcServer(
    () => `${PUBLIC}/sign-in/oauth2/callback/oidc`,
    (subject) => subject,
  )
  const oidc = { issuer: other.issuer, name: 'Home', ...CLIENT }
  host = await startHoldfast({ signUp: 'closed', publicUrl: PUBLIC, oidc })
  root = await administrator(host)
  const now = host.clock.now()
  await insertOneTimeLink(host.database, {
    token_hash: hashToken(OLD),
    purpose: 'invitation',
    account_id: null,
    created_at: now,
    expires_at: now + HOUR,
  })
}, 120_000)
afterAll(async () => {
  await host.stop()
  await other[Symbol.asyncDispose]()
})

const browser = () => visitor(() => host.url)
const names = async () =>
  (await host.database.selectFrom('accounts').select('username').execute()).map(({ username }) => username)

test.each([
  ['without an invitation', {}],
  ['with one that was made before', { invitation: OLD }],
])('nobody joins %s', async (_, more) => {
  const joined = await browser().send('POST', '/api/v1/account', {
    username: 'somebody',
    password: PASSWORD,
    ...more,
  })
  expect([joined.status, joined.error]).toEqual([403, 'SIGN_UP_CLOSED'])
  expect(await names()).not.toContain('somebody')
})

test.each(['/sign-up', `/sign-up/${OLD}`])(
  '%s shows no form, and says that there is no way in',
  async (path) => {
    const page = await browser().get(path, { accept: 'text/html' })
    expect(page.status).toBe(403)
    expect(elements(page.text, 'h1').map(({ text }) => text)).toEqual(['Nobody can sign up here'])
    expect(page.text).toContain('does not accept new accounts, with or without an invitation')
    expect(elements(page.text, 'form')).toEqual([])
    const sent = await browser().submit(path, { username: 'somebody', password: PASSWORD })
    expect(sent.status).toBe(403)
    expect(sent.text).toContain('Nobody can sign up here')
    expect(await names()).not.toContain('somebody')
  },
)

test('no invitation is made, nor written down as made', async () => {
  const refused = await root.send('POST', '/api/v1/invitations')
  expect([refused.status, refused.error]).toEqual([403, 'SIGN_UP_CLOSED'])
  expect(await root.deeds('invitation.made')).toEqual([])
})

test('who comes from another server for the first time gets no account', async () => {
  const person = browser()
  const start = await person.get('/sign-in/oidc')
  const back = new URL(await other.signIn(start.headers.get('location') ?? '', 'newcomer'))
  const end = await person.get(back.pathname + back.search, { 'sec-fetch-site': 'cross-site' })
  expect([end.status, end.error]).toEqual([403, 'SIGN_UP_CLOSED'])
  expect((await person.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
  expect(await names()).not.toContain('newcomer')
})
