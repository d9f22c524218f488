// Also on the cluster in npm test.
import { beforeEach, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../../../src/domain/clock.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { codesAt } from '../../../support/sign-in/codes.ts'

const OTHER = 'granite lantern under moss'

const codeOf = codesAt(() => host.clock.now())

const host = await hostOfFile()
// Wrong passwords of the test before are not counted with those of this one.
beforeEach(() => host.clock.advance(61 * MINUTE))

let people = 0

interface Person extends Visitor {
  readonly id: number
  readonly username: string
}

async function newcomer(): Promise<Person> {
  const { id, username } = await host.addAccount(`changing${++people}`)
  return { ...(await signedIn(host, username)), id, username }
}

const newBrowser = () => visitor(() => host.url)

const signIn = (browser: Visitor, username: string, password = PASSWORD) =>
  browser.send('POST', '/api/v1/session', { username, password })

const tokenOf = ({ path }: { readonly path: string }) => path.split('/').at(-1)

/** Every way in which a password ends; what each returns settles when it has. */
const endings: readonly (readonly [string, (person: Person, admin: Visitor) => Promise<unknown>])[] = [
  [
    'is changed by its owner',
    (person) => person.send('PATCH', '/api/v1/account', { password: PASSWORD, new_password: OTHER }),
  ],
  [
    'is set anew by a link',
    async (person) => {
      const token = tokenOf(await host.links.password(person.username))
      return person.send('POST', '/api/v1/account/password', { token, password: OTHER })
    },
  ],
  [
    'is reset by an administrator',
    (person, admin) => admin.send('POST', `/api/v1/admin/account/${person.id}/reset`, {}),
  ],
]

async function administrator(): Promise<Visitor> {
  const person = await newcomer()
  await host.makeAdmin(person.username)
  return person
}

async function sessionsOf({ username }: Person): Promise<number> {
  const rows = host.database
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select('sessions.id')
    .where('accounts.username', '=', username)
  return (await rows.execute()).length
}

test.each(endings)(
  'a sign-in beside does not outlive a password that %s',
  async (_, end) => {
    const [person, admin] = [await newcomer(), await administrator()]
    let isOver = false
    const guess = async () => {
      while (!isOver) await signIn(newBrowser(), person.username)
    }
    const guesses = Array.from({ length: 8 }, guess)
    await end(person, admin)
    isOver = true
    await Promise.all(guesses)
    const kept = (await person.get('/api/v1/session')).status === 200 ? 1 : 0
    expect(await sessionsOf(person)).toBe(kept)
  },
  120_000,
)

test.each(endings)('a code leads nowhere after a password that %s', async (_, end) => {
  const [person, admin] = [await newcomer(), await administrator()]
  const begun = await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })
  const codes = begun.data(z.object({ secret: z.string(), recovery_codes: z.array(z.string()) }))
  await person.send('POST', '/api/v1/account/codes/confirm', { code: codeOf(codes.secret) })
  const halfway = [newBrowser(), newBrowser()] as const
  for (const browser of halfway) expect((await signIn(browser, person.username)).status).toBe(200)
  await end(person, admin)
  const [recovery = ''] = codes.recovery_codes
  for (const [at, code] of [recovery, codeOf(codes.secret, 1)].entries()) {
    const browser = halfway[at] ?? person
    const reply = await browser.send('POST', '/api/v1/session/code', { code })
    expect(reply.error).toBe('NOT_SIGNED_IN')
    expect((await browser.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
  }
})

test('a new name and a new password come together or not at all', async () => {
  const [person, other] = [await newcomer(), await newcomer()]
  const elsewhere = visitor(() => host.url)
  await signIn(elsewhere, person.username)
  const change = (username: string) =>
    person.send('PATCH', '/api/v1/account', { password: PASSWORD, new_password: OTHER, username })
  expect((await change(other.username)).error).toBe('DUPLICATE_NAME')
  expect((await change('a name')).error).toBe('INVALID_NAME')
  expect((await elsewhere.get('/api/v1/session')).status).toBe(200)
  expect((await signIn(newBrowser(), person.username)).status).toBe(200)
  expect((await change(`new-${person.username}`)).status).toBe(200)
  expect((await elsewhere.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
  expect((await signIn(newBrowser(), `new-${person.username}`, OTHER)).status).toBe(200)
})
