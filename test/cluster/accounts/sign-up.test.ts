import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type Visitor, visitor } from '../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const PASSWORD = 'violet kettle anchors drift'
const COOKIE = '__Host-holdfast.session_token'
const made = z.object({ url: z.string() })

const browser = (): Visitor => visitor(() => host.url)
const tokenOf = (path: string | undefined) => path?.split('/').at(-1)

const host = await hostOfFile({
  publicUrl: 'https://files.example.org',
  sessionRateLimit: 12,
  trustedProxies: ['127.0.0.1', '::1'],
})

test('of fifty who open the link of the first start at once, one becomes the administrator', async () => {
  const token = tokenOf((await host.links.welcome())?.path)
  const second = tokenOf((await host.links.welcome())?.path)
  const attempts = Array.from({ length: 50 }, async (_, at) => {
    const body = { username: `first${at}`, password: PASSWORD, token: at % 2 === 0 ? token : second }
    const from = { 'x-forwarded-for': `198.51.100.${at}` }
    return (await browser().send('POST', '/api/v1/account/first', body, from)).error ?? 'made'
  })
  const counts = Map.groupBy(await Promise.all(attempts), (outcome) => outcome)
  expect([...counts].map(([outcome, all]) => [outcome, all.length]).sort()).toEqual([
    ['INVALID_LINK', 49],
    ['made', 1],
  ])
  const admins = await host.database.selectFrom('accounts').select('id').where('is_admin', '=', 1).execute()
  expect(admins.length).toBe(1)
  expect(await host.links.welcome()).toBeNull()
}, 300_000)

test('where no mail is sent, who has forgotten their password is told whom to ask', async () => {
  expect((await browser().get('/sign-in')).text).not.toContain('/sign-in/forgotten')
  expect((await browser().get('/sign-in/forgotten')).text).toContain('Ask its administrator')
  expect((await browser().submit('/sign-in/forgotten', { name: 'ada' })).error).toBe('MAIL_DISABLED')
})

describe('where signing up takes an invitation', () => {
  /** Signed in as the administrator, whoever of the fifty it was. */
  async function administrator(): Promise<Visitor> {
    const { username } = await host.database
      .selectFrom('accounts')
      .select('username')
      .where('is_admin', '=', 1)
      .executeTakeFirstOrThrow()
    const person = browser()
    await person.send('POST', '/api/v1/session', { username, password: PASSWORD })
    return person
  }

  test('an administrator makes one, which makes one account', async () => {
    const admin = await administrator()
    const invite = async () => {
      const reply = await admin.send('POST', '/api/v1/invitations')
      expect(reply.status).toBe(201)
      return reply.data(made).url
    }
    const url = await invite()
    expect(url).toStartWith('https://files.example.org/sign-up/')
    const join = (username: string, invitation?: string) =>
      browser().send('POST', '/api/v1/account', { username, password: PASSWORD, invitation })
    expect((await join('nobody')).error).toBe('INVITATION_NEEDED')
    expect((await join('nobody', 'made-up')).error).toBe('INVALID_LINK')
    const [one, two] = await Promise.all([join('guest-one', tokenOf(url)), join('guest-two', tokenOf(url))])
    expect([one.error, two.error].sort()).toEqual([null, 'INVALID_LINK'].sort())
    // What fails uses nothing up.
    const other = tokenOf(await invite())
    expect((await join(one.error === null ? 'guest-one' : 'guest-two', other)).error).toBe('DUPLICATE_NAME')
    expect((await join('guest-three', other)).status).toBe(200)
  })

  test('somebody who is no administrator makes none', async () => {
    const person = browser()
    await person.send('POST', '/api/v1/session', { username: 'guest-three', password: PASSWORD })
    expect((await person.send('POST', '/api/v1/invitations')).error).toBe('ADMIN_NEEDED')
  })
})

test('over TLS the cookie is for this host alone, and out of reach of scripts and other sites', async () => {
  const reply = await browser().send('POST', '/api/v1/session', {
    username: 'guest-three',
    password: PASSWORD,
  })
  const cookies = reply.headers.getSetCookie().map((cookie) => {
    const [value = '', ...flags] = cookie.split('; ')
    return [value.split('=')[0], flags.sort()]
  })
  const flags = ['Path=/', 'SameSite=Lax', 'Secure']
  expect(cookies).toEqual([
    [COOKIE, ['HttpOnly', 'Max-Age=34560000', ...flags]],
    ['__Host-holdfast.browser', ['HttpOnly', 'Max-Age=31536000', ...flags]],
  ])
})

test('sessions of an account have one rate together, which is not that of keys', async () => {
  const { username, apiKey } = await host.addAccount('busy')
  const token = tokenOf((await host.links.password(username)).path)
  const [one, two] = [browser(), browser()]
  await one.send('POST', '/api/v1/account/password', { token, password: PASSWORD })
  for (const each of [one, two]) await each.send('POST', '/api/v1/session', { username, password: PASSWORD })
  for (let asked = 0; asked < 6; asked++) await one.get('/api/v1/account')
  const reply = await two.get('/api/v1/account')
  expect([reply.headers.get('ratelimit-limit'), reply.headers.get('ratelimit-remaining')]).toEqual([
    '12',
    '5',
  ])
  const byKey = await fetch(`${host.url}/api/v1/account`, { headers: { authorization: `Bearer ${apiKey}` } })
  expect(byKey.headers.get('ratelimit-remaining')).toBe('999')
  for (let asked = 0; asked < 5; asked++) await two.get('/api/v1/account')
  expect((await one.get('/api/v1/session')).error).toBe('RATE_LIMITED')
})
