import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, MINUTE } from '../../../../src/domain/clock.ts'
import { routes } from '../../../../src/server/routes.ts'
import { withHoldfast } from '../../../support/clients/api.ts'
import { type Reply, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { codesAt } from '../../../support/sign-in/codes.ts'

const PASSWORD = 'violet kettle anchors drift'
const OTHER = 'granite lantern under moss'
const COOKIE = 'holdfast.session_token'

const codeOf = codesAt(() => host.clock.now())

const host = await hostOfFile({ signUp: 'open', trustedProxies: ['127.0.0.1', '::1'] })

let people = 0

interface Person extends Visitor {
  readonly username: string
  /** The code of what is refused when asking who is signed in, or null. */
  refused(): Promise<string | null>
}

function browserOf(username: string): Person {
  const browser = visitor(() => host.url)
  return { ...browser, username, refused: async () => (await browser.get('/api/v1/session')).error }
}

async function newcomer(): Promise<Person> {
  const person = browserOf(`person${++people}`)
  const { username } = person
  // Everybody comes from an address of their own.
  const from = { 'x-forwarded-for': `198.51.100.${people}` }
  const reply = await person.send('POST', '/api/v1/account', { username, password: PASSWORD }, from)
  expect(reply.text).toBe('{"success":true}')
  return person
}

function signIn(person: Person, password = PASSWORD): Promise<Reply> {
  return person.send('POST', '/api/v1/session', { username: person.username, password })
}

/** The same person at another computer. */
async function elsewhere({ username }: Person): Promise<Person> {
  const other = browserOf(username)
  expect((await signIn(other)).status).toBe(200)
  return other
}

describe('a session', () => {
  test('begins with signing up, ends with signing out, and begins again with the password', async () => {
    const person = await newcomer()
    expect(await person.refused()).toBeNull()
    const account = (await person.get('/api/v1/account')).data(z.object({ username: z.string() }))
    expect(account.username).toBe(person.username)
    expect((await person.send('DELETE', '/api/v1/session')).status).toBe(200)
    expect(person.cookies.has(COOKIE)).toBe(false)
    expect(await person.refused()).toBe('NOT_SIGNED_IN')
    const again = { username: person.username.toUpperCase(), password: PASSWORD }
    const reply = await person.send('POST', '/api/v1/session', again)
    expect(reply.data(z.object({ next: z.string() }))).toEqual({ next: 'signed in' })
    expect(await person.refused()).toBeNull()
  })

  test('is a new one for everybody who signs in, and ends the one that the browser was in', async () => {
    const person = await newcomer()
    const given = person.cookies.get(COOKIE) ?? ''
    const before = browserOf(person.username)
    before.cookies.set(COOKIE, given)
    await signIn(person)
    expect(person.cookies.get(COOKIE)).not.toBe(given)
    expect(await before.refused()).toBe('NOT_SIGNED_IN')
    const guessed = browserOf(person.username)
    guessed.cookies.set(COOKIE, 'known-beforehand.signature')
    await signIn(guessed)
    expect(guessed.cookies.get(COOKIE)).not.toContain('known-beforehand')
  })

  test('is kept as a hash alone', async () => {
    const person = await newcomer()
    const token = (person.cookies.get(COOKIE) ?? '').split('.')[0] ?? ''
    const rows = await host.database.selectFrom('sessions').selectAll().execute()
    expect(token.length).toBeGreaterThan(20)
    expect(JSON.stringify(rows)).not.toContain(token)
  })

  test('that was ended elsewhere is refused with the next request', async () => {
    const person = await newcomer()
    const other = await elsewhere(person)
    const sessions = (await person.get('/api/v1/sessions')).data(
      z.array(z.object({ id: z.number(), is_this: z.boolean(), user_agent: z.string() })),
    )
    expect(sessions.map(({ user_agent }) => user_agent)).toEqual(['A browser', 'A browser'])
    const [theirs] = sessions.filter(({ is_this }) => !is_this)
    expect((await person.send('DELETE', `/api/v1/session/${theirs?.id}`)).status).toBe(200)
    for (let asked = 0; asked < 3; asked++) expect(await other.refused()).toBe('NOT_SIGNED_IN')
    expect(await person.refused()).toBeNull()
    const third = await elsewhere(person)
    const ended = (await person.send('DELETE', '/api/v1/sessions')).data(z.object({ ended: z.number() }))
    expect(ended).toEqual({ ended: 1 })
    expect(await third.refused()).toBe('NOT_SIGNED_IN')
  })

  test('of somebody else cannot be ended', async () => {
    const [person, other] = [await newcomer(), await newcomer()]
    const [session] = (await person.get('/api/v1/sessions')).data(z.array(z.object({ id: z.number() })))
    expect((await other.send('DELETE', `/api/v1/session/${session?.id}`)).error).toBe('NOT_FOUND')
    expect(await person.refused()).toBeNull()
  })

  test('of a disabled account is refused with the next request, and none can be begun', async () => {
    const person = await newcomer()
    await host.disableAccount(person.username)
    for (let asked = 0; asked < 3; asked++) expect(await person.refused()).toBe('ACCOUNT_DISABLED')
    expect((await signIn(browserOf(person.username))).error).toBe('ACCOUNT_DISABLED')
  })

  test('uploads for its account, and is never taken for a guest when it is over', async () => {
    const person = await newcomer()
    const cookie = `${COOKIE}=${person.cookies.get(COOKIE)}`
    const upload = (headers: Record<string, string>) => {
      const body = new FormData()
      body.append('file', new File(['content'], 'mine.txt'))
      return fetch(`${host.url}/api/v1/upload`, { method: 'POST', headers: { cookie, ...headers }, body })
    }
    expect((await upload({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await upload({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    const files = await person.get('/api/v1/files')
    expect(files.data(z.array(z.object({ name: z.string() })))).toEqual([{ name: 'mine.txt' }])
    await person.send('DELETE', '/api/v1/session')
    expect((await upload({ 'sec-fetch-site': 'same-origin' })).status).toBe(401)
  })

  test('that is used lasts, and is over after 30 days without', async () => {
    const person = await newcomer()
    host.clock.advance(20 * DAY)
    expect(await person.refused()).toBeNull()
    host.clock.advance(20 * DAY)
    expect(await person.refused()).toBeNull()
    host.clock.advance(31 * DAY)
    expect(await person.refused()).toBe('NOT_SIGNED_IN')
    await host.runJobs()
    const left = await host.database.selectFrom('sessions').selectAll().execute()
    expect(left.filter(({ expires_at }) => expires_at <= host.clock.now())).toEqual([])
  })
})

describe('a page', () => {
  test('shows its owner what is private, whoever has led them there, and nobody else', async () => {
    const [person, other] = [await newcomer(), await newcomer()]
    const made = await person.send('POST', '/api/v1/folder', { name: 'Private', public: 0 })
    const path = `/f/${made.data(z.object({ identifier: z.string() })).identifier}`
    expect((await person.get(path)).status).toBe(200)
    const ledThere = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await person.get(path, ledThere)).status).toBe(200)
    expect((await person.get(path, { 'sec-fetch-site': 'cross-site' })).status).toBe(404)
    expect((await other.get(path)).status).toBe(404)
  })

  test('forgets a session that is over, so that its uploads are those of a guest', async () => {
    const person = await newcomer()
    const other = browserOf(person.username)
    other.cookies.set(COOKIE, person.cookies.get(COOKIE) ?? '')
    await person.send('DELETE', '/api/v1/session')
    expect((await other.get('/')).text).toContain('href="/sign-in"')
    expect(other.cookies.size).toBe(0)
  })
})

describe('another site', () => {
  const unsafe = routes.filter(
    ({ method, path, auth, documentation }) =>
      // Raw uploads take no cookies: see raw-uploads.test.ts.
      !['get', 'options', 'put'].includes(method) &&
      (auth !== 'none' || documentation.tag === 'Signing in' || /^\/(sign-|welcome|set-password)/.test(path)),
  )
  const foreign: readonly (readonly [string, Record<string, string>])[] = [
    ['says so', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['is a neighbour', { 'sec-fetch-site': 'same-site', origin: 'https://evil.example' }],
    ['tells its origin alone', { origin: 'https://evil.example' }],
    ['hides its origin', { origin: 'null' }],
    ['tells nothing', {}],
  ]

  test('is refused on every route that changes something', async () => {
    const person = await newcomer()
    const cookie = `${COOKIE}=${person.cookies.get(COOKIE)}`
    expect(unsafe.length).toBeGreaterThan(30)
    for (const [who, headers] of foreign) {
      for (const { method, path } of unsafe) {
        const { status } = await fetch(host.url + path.replaceAll(/\{\w+\}/g, '1'), {
          method: method.toUpperCase(),
          headers: { cookie, 'tus-resumable': '1.0.0', 'x-http-method-override': 'PATCH', ...headers },
        })
        expect({ who, method, path, status }).toEqual({ who, method, path, status: 403 })
      }
    }
    expect(await person.refused()).toBeNull()
  })

  test('that reads and tells its origin alone is nobody, on pages too', async () => {
    const person = await newcomer()
    const cookie = `${COOKIE}=${person.cookies.get(COOKIE)}`
    const made = await person.send('POST', '/api/v1/folder', { name: 'Private', public: 0 })
    const page = `/f/${made.data(z.object({ identifier: z.string() })).identifier}`
    const ask = async (method: string, path: string, headers: Record<string, string>) =>
      (await fetch(host.url + path, { method, headers: { cookie, ...headers } })).status
    const told: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ]
    for (const method of ['GET', 'HEAD']) {
      for (const headers of told) {
        expect(await ask(method, '/api/v1/account', headers)).toBe(401)
        expect(await ask(method, page, headers)).toBe(404)
      }
      expect(await ask(method, '/api/v1/account', { origin: new URL(host.url).origin })).toBe(200)
      expect(await ask(method, '/api/v1/account', {})).toBe(200)
    }
  })

  test('does not become this one by a Host header where the public address is set', () =>
    withHoldfast({ publicUrl: 'https://files.example.org' }, async (holdfast) => {
      const { host: here } = new URL(holdfast.nodeUrl)
      const ask = (headers: Record<string, string>) =>
        fetch(`${holdfast.nodeUrl}/api/v1/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ username: 'nobody', password: 'nothing' }),
        })
      const refusedAs = async (headers: Record<string, string>) =>
        Object((await (await ask(headers)).json()) as unknown).error
      expect(await refusedAs({ origin: `http://${here}` })).toBe('FOREIGN_ORIGIN')
      expect(await refusedAs({ origin: 'http://files.example.org' })).toBe('FOREIGN_ORIGIN')
      expect(await refusedAs({ origin: 'https://files.example.org' })).not.toBe('FOREIGN_ORIGIN')
    }))

  test('that reads gets nothing by the session of a visitor, and no cookie is ever allowed to it', async () => {
    const person = await newcomer()
    const reply = await person.get('/api/v1/files', {
      'sec-fetch-site': 'cross-site',
      origin: 'https://evil.example',
    })
    expect(reply.error).toBe('INVALID_API_KEY')
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('guessing', () => {
  test('is limited by address, also for who knows the password in the end', async () => {
    const person = await newcomer()
    host.clock.advance(16 * MINUTE)
    const guesses = Array.from({ length: 12 }, () => signIn(browserOf(person.username), 'not the password'))
    const codes = (await Promise.all(guesses)).map(({ error }) => error).sort()
    expect(codes).toEqual([...Array(2).fill('RATE_LIMITED'), ...Array(10).fill('WRONG_PASSWORD')])
    const late = await signIn(browserOf(person.username))
    expect([late.error, Number(late.headers.get('retry-after')) > 0]).toEqual(['RATE_LIMITED', true])
    host.clock.advance(16 * MINUTE)
    expect((await signIn(browserOf(person.username))).status).toBe(200)
  })

  test('tells nobody which names there are', async () => {
    const person = await newcomer()
    const wrong = await signIn(person, 'not the password')
    const nobody = await signIn(browserOf('nobody-of-this-name'))
    expect([nobody.status, nobody.text]).toEqual([wrong.status, wrong.text])
  })
})

describe('an account', () => {
  test.each([
    ['1234567', 'WEAK_PASSWORD'],
    ['password123', 'WEAK_PASSWORD'],
    ['weak-person-1', 'WEAK_PASSWORD'],
  ])('is not made with the password %s', async (password, error) => {
    const reply = await visitor(() => host.url).send('POST', '/api/v1/account', {
      username: 'weak-person',
      password,
    })
    expect(reply.error).toBe(error)
  })

  test('gets a new password from who knows the present one, which ends all other sessions', async () => {
    const person = await newcomer()
    const other = await elsewhere(person)
    const change = (password: string) =>
      person.send('PATCH', '/api/v1/account', { password, new_password: OTHER })
    expect((await change('not the password')).error).toBe('WRONG_PASSWORD')
    expect((await change(PASSWORD)).status).toBe(200)
    expect(await person.refused()).toBeNull()
    expect(await other.refused()).toBe('NOT_SIGNED_IN')
    expect((await signIn(other)).error).toBe('WRONG_PASSWORD')
    expect((await signIn(other, OTHER)).status).toBe(200)
  })

  test('gets another name, but not somebody else’s', async () => {
    const [person, other] = [await newcomer(), await newcomer()]
    const rename = (username: string) =>
      person.send('PATCH', '/api/v1/account', { password: PASSWORD, username })
    expect((await rename(other.username)).error).toBe('DUPLICATE_NAME')
    expect((await rename(`Renamed-${person.username}`)).status).toBe(200)
    expect((await signIn(browserOf(person.username))).error).toBe('WRONG_PASSWORD')
    expect((await signIn(browserOf(`renamed-${person.username}`))).status).toBe(200)
  })

  test('is deleted with everything in it, and its name is free', async () => {
    const person = await newcomer()
    const other = await elsewhere(person)
    const key = await host.addKey(person.username)
    const send = async (folder?: string) => {
      const body = new FormData()
      body.append('file', new File([`of ${person.username} ${folder}`], 'mine.txt'))
      const headers = {
        authorization: `Bearer ${key}`,
        ...(folder === undefined ? {} : { 'x-folder-id': folder }),
      }
      const response = await fetch(`${host.url}/api/v1/upload`, { method: 'POST', headers, body })
      return z.object({ slug: z.string() }).parse(await response.json()).slug
    }
    const made = await person.send('POST', '/api/v1/folder', { name: 'Folder' })
    const { identifier } = made.data(z.object({ identifier: z.string() }))
    const slugs = [await send(), await send(identifier)]
    const remove = (username: string, password: string) =>
      person.send('POST', '/api/v1/account/delete', { username, password })
    expect((await remove('somebody', PASSWORD)).error).toBe('INVALID_REQUEST')
    expect((await remove(person.username, 'not the password')).error).toBe('WRONG_PASSWORD')
    const { account } = (await person.get('/api/v1/session')).data(z.object({ account: z.number() }))
    expect((await remove(person.username, PASSWORD)).status).toBe(200)
    // As one that is made by a request that began before.
    const late = await host.addKey(`*removed-${account}*`)

    for (const slug of slugs) expect((await fetch(`${host.url}/d/${slug}`)).status).toBe(404)
    expect((await fetch(`${host.url}/f/${identifier}`)).status).toBe(404)
    expect(await other.refused()).toBe('NOT_SIGNED_IN')
    const asked = async (apiKey: string) =>
      (await fetch(`${host.url}/api/v1/files`, { headers: { authorization: `Bearer ${apiKey}` } })).status
    expect([await asked(key), await asked(late)]).toEqual([401, 403])
    expect((await signIn(other)).error).toBe('WRONG_PASSWORD')

    // Folders go from the innermost out, one level a run.
    for (let runs = 0; runs < 4; runs++) await host.runJobs()
    const removed = host.database.selectFrom('accounts').selectAll().where('removed_at', 'is not', null)
    expect(await removed.execute()).toEqual([])
    const again = { username: person.username, password: PASSWORD }
    expect((await visitor(() => host.url).send('POST', '/api/v1/account', again)).status).toBe(200)
  })

  test('that the command line made gets its password by a link, which works once', async () => {
    const { username } = await host.addAccount(`made${++people}`)
    const person = browserOf(username)
    expect((await signIn(person)).error).toBe('WRONG_PASSWORD')
    const first = (await host.links.password(username)).path.split('/').at(-1)
    const token = (await host.links.password(username)).path.split('/').at(-1)
    const set = (link: string | undefined, password: string) =>
      person.send('POST', '/api/v1/account/password', { token: link, password })
    expect((await set(first, PASSWORD)).error).toBe('INVALID_LINK')
    expect((await set(token, 'password')).error).toBe('WEAK_PASSWORD')
    expect((await set(token, PASSWORD)).status).toBe(200)
    expect((await set(token, OTHER)).error).toBe('INVALID_LINK')
    expect((await signIn(person)).status).toBe(200)
  })
})

describe('codes', () => {
  const made = z.object({ secret: z.string(), uri: z.string(), recovery_codes: z.array(z.string()) })

  async function withCodes(): Promise<Person & z.infer<typeof made>> {
    const person = await newcomer()
    const begin = (password: string) => person.send('POST', '/api/v1/account/codes', { password })
    expect((await begin('not the password')).error).toBe('WRONG_PASSWORD')
    const codes = (await begin(PASSWORD)).data(made)
    const confirm = (code: string) => person.send('POST', '/api/v1/account/codes/confirm', { code })
    expect((await confirm('000000')).error).toBe('WRONG_CODE')
    expect((await confirm(codeOf(codes.secret))).status).toBe(200)
    expect(await person.refused()).toBeNull()
    return { ...person, ...codes }
  }

  test('come after the password, count once, and a recovery code helps as well', async () => {
    const person = await withCodes()
    expect(person.uri).toStartWith(`otpauth://totp/Holdfast:${person.username}?secret=${person.secret}`)
    const code = codeOf(person.secret, 1)
    const [recovery = ''] = person.recovery_codes
    const enter = async (text: string) => {
      const browser = browserOf(person.username)
      expect((await signIn(browser)).data(z.object({ next: z.string() })).next).toBe('code')
      expect(await browser.refused()).toBe('NOT_SIGNED_IN')
      const reply = await browser.send('POST', '/api/v1/session/code', { code: text })
      return [reply.error, await browser.refused()]
    }
    expect(await enter('123456')).toEqual(['WRONG_CODE', 'NOT_SIGNED_IN'])
    expect(await enter(code)).toEqual([null, null])
    expect(await enter(code)).toEqual(['WRONG_CODE', 'NOT_SIGNED_IN'])
    expect(await enter(recovery)).toEqual([null, null])
    expect(await enter(recovery)).toEqual(['WRONG_CODE', 'NOT_SIGNED_IN'])
  })

  test('count once, also the one that has confirmed the set-up', async () => {
    const person = await newcomer()
    const codes = (await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })).data(made)
    const code = codeOf(codes.secret)
    expect((await person.send('POST', '/api/v1/account/codes/confirm', { code })).status).toBe(200)
    const browser = browserOf(person.username)
    await signIn(browser)
    const enter = async (text: string) =>
      (await browser.send('POST', '/api/v1/session/code', { code: text })).error
    expect(await enter(code)).toBe('WRONG_CODE')
    // Nor does an earlier one, which somebody may have seen.
    expect(await enter(codeOf(codes.secret, -1))).toBe('WRONG_CODE')
    expect(await browser.refused()).toBe('NOT_SIGNED_IN')
  })

  test('are guessed at five times, and then the password comes first again', async () => {
    const person = await withCodes()
    const browser = browserOf(person.username)
    await signIn(browser)
    const guess = async () => (await browser.send('POST', '/api/v1/session/code', { code: '000000' })).error
    const errors = []
    for (let tries = 0; tries < 7; tries++) errors.push(await guess())
    expect(errors).toEqual([...Array(5).fill('WRONG_CODE'), 'RATE_LIMITED', 'NOT_SIGNED_IN'])
  })

  test('have recovery codes that are made anew with the password, and then the old ones do not work', async () => {
    const person = await withCodes()
    const renew = (password: string) => person.send('POST', '/api/v1/account/codes/recovery', { password })
    expect((await renew('not the password')).error).toBe('WRONG_PASSWORD')
    const renewed = (await renew(PASSWORD)).data(made.pick({ recovery_codes: true })).recovery_codes
    expect(renewed).toHaveLength(10)
    const browser = browserOf(person.username)
    await signIn(browser)
    const enter = async (code = '') => (await browser.send('POST', '/api/v1/session/code', { code })).error
    expect(await enter(person.recovery_codes[0])).toBe('WRONG_CODE')
    expect(await enter(renewed[0])).toBeNull()
    const other = await newcomer()
    const refused = await other.send('POST', '/api/v1/account/codes/recovery', { password: PASSWORD })
    expect(refused.error).toBe('INVALID_REQUEST')
  })

  test('are not begun anew beside those that count', async () => {
    const person = await withCodes()
    const again = await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })
    expect(again.error).toBe('INVALID_REQUEST')
    const browser = browserOf(person.username)
    await signIn(browser)
    const [code] = person.recovery_codes
    expect((await browser.send('POST', '/api/v1/session/code', { code })).error).toBeNull()
  })

  test('that were never confirmed give way to others', async () => {
    const person = await newcomer()
    const begin = async () =>
      (await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })).data(made)
    await begin()
    const { secret } = await begin()
    const confirmed = await person.send('POST', '/api/v1/account/codes/confirm', { code: codeOf(secret) })
    expect(confirmed.status).toBe(200)
  })

  test('that help when the app is lost count once, also at the same moment', async () => {
    const person = await withCodes()
    const [code] = person.recovery_codes
    const browsers = [browserOf(person.username), browserOf(person.username)]
    for (const browser of browsers) await signIn(browser)
    const enter = async (browser: Person) =>
      (await browser.send('POST', '/api/v1/session/code', { code })).error ?? 'in'
    const outcomes = await Promise.all(browsers.map(enter))
    expect(outcomes.sort()).toEqual(['WRONG_CODE', 'in'])
  })

  test('are given up with the password', async () => {
    const person = await withCodes()
    const end = (password: string) => person.send('POST', '/api/v1/account/codes/delete', { password })
    expect((await end('not the password')).error).toBe('WRONG_PASSWORD')
    expect((await end(PASSWORD)).status).toBe(200)
    expect(await person.refused()).toBeNull()
    expect((await signIn(browserOf(person.username))).data(z.object({ next: z.string() })).next).toBe(
      'signed in',
    )
  })
})
