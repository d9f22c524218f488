/** How often new passwords are taken, and what becomes of who has just set one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { HOUR } from '../../../../src/domain/clock.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { administrator } from '../../../support/sign-in/administrator.ts'

const WEAK = 'password123'
const PROXIED = { trustedProxies: ['127.0.0.1', '::1'] }
const from = (address: string) => ({ 'x-forwarded-for': address })

let open: TestHoldfast
let invited: TestHoldfast

beforeAll(async () => {
  open = await startHoldfast({ ...PROXIED, signUp: 'open' })
  invited = await startHoldfast(PROXIED)
}, 300_000)
afterAll(async () => {
  await open.stop()
  await invited.stop()
})

let people = 0
const newName = () => `setting${++people}`

function join(host: TestHoldfast, address: string, body: object) {
  const account = { username: newName(), password: PASSWORD, ...body }
  return visitor(() => host.url).send('POST', '/api/v1/account', account, from(address))
}

async function invitation(admin: Visitor): Promise<string> {
  const { url } = (await admin.send('POST', '/api/v1/invitations')).data(z.object({ url: z.string() }))
  return url.split('/').at(-1) ?? ''
}

describe('from one network', () => {
  test('ten new accounts are made in an hour, and weak passwords count as well', async () => {
    const here = '203.0.113.1'
    const codes = []
    for (let at = 0; at < 11; at++) {
      const reply = await join(open, here, at % 2 === 0 ? {} : { password: WEAK })
      codes.push(reply.error)
      if (at === 10) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const made = Array.from({ length: 5 }, () => [null, 'WEAK_PASSWORD']).flat()
    expect(codes).toEqual([...made, 'RATE_LIMITED'])
    expect((await join(open, '203.0.113.2', {})).status).toBe(200)
    open.clock.advance(HOUR)
    expect((await join(open, here, {})).status).toBe(200)
  })

  test('all those come who have a link each, and nobody guesses on with one', async () => {
    const here = '203.0.113.3'
    const admin = await administrator(invited)
    for (let at = 0; at < 12; at++) {
      expect((await join(invited, here, { invitation: await invitation(admin) })).status).toBe(200)
    }
    const link = await invitation(admin)
    const codes = []
    for (let at = 0; at < 11; at++) {
      codes.push((await join(invited, here, { invitation: link, password: WEAK })).error)
    }
    expect(codes).toEqual([...Array(10).fill('WEAK_PASSWORD'), 'RATE_LIMITED'])
    // What a neighbour tries by their link locks nobody else out of their own.
    const { username } = await invited.addAccount(newName())
    const token = (await invited.links.password(username)).path.split('/').at(-1)
    const body = { token, password: PASSWORD }
    const set = await visitor(() => invited.url).send('POST', '/api/v1/account/password', body, from(here))
    expect(set.status).toBe(200)
    invited.clock.advance(HOUR)
    expect((await join(invited, here, { invitation: link })).status).toBe(200)
  })
})

test('an owner has ten new passwords an hour looked at', async () => {
  const { username } = await invited.addAccount(newName())
  const person = await signedIn(invited, username)
  const change = async (next: string) =>
    (await person.send('PATCH', '/api/v1/account', { password: PASSWORD, new_password: next })).error
  const codes = []
  for (let at = 0; at < 11; at++) codes.push(await change(WEAK))
  expect(codes).toEqual([...Array(10).fill('WEAK_PASSWORD'), 'RATE_LIMITED'])
  invited.clock.advance(HOUR)
  expect(await change('granite lantern under moss')).toBeNull()
})

describe('who has just set a password is signed in, however many others were guessed at from there,', () => {
  async function guessFrom(host: TestHoldfast, address: string): Promise<void> {
    const wrong = { username: newName(), password: 'not the password' }
    const guess = () => visitor(() => host.url).send('POST', '/api/v1/session', wrong, from(address))
    const codes = []
    for (let at = 0; at < 11; at++) codes.push((await guess()).error)
    expect(codes.at(-1)).toBe('RATE_LIMITED')
  }

  test('by a request', async () => {
    await guessFrom(open, '203.0.113.4')
    const person = visitor(() => open.url)
    const account = { username: newName(), password: PASSWORD }
    const reply = await person.send('POST', '/api/v1/account', account, from('203.0.113.4'))
    expect(reply.text).toBe('{"success":true}')
    expect((await person.get('/api/v1/session')).status).toBe(200)
  })

  test('by a form', async () => {
    await guessFrom(invited, '203.0.113.5')
    const link = await invitation(await administrator(invited))
    const person = visitor(() => invited.url)
    const fields = { username: newName(), password: PASSWORD }
    const reply = await person.submit(`/sign-up/${link}`, fields, from('203.0.113.5'))
    expect(reply.status).toBe(303)
    expect((await person.get('/api/v1/session')).status).toBe(200)
  })
})

describe('an invitation ends', () => {
  test.each([
    ['is disabled', { disabled: true }],
    ['is no administrator any more', { is_admin: false }],
  ])('when who made it %s', async (_, change) => {
    const admin = await administrator(invited)
    const { id, username } = await invited.addAccount(newName())
    await invited.makeAdmin(username)
    const link = await invitation(await signedIn(invited, username))
    await admin.act('PATCH', `/account/${id}`, change)
    const here = `203.0.113.${100 + people}`
    expect((await join(invited, here, { invitation: link })).error).toBe('INVALID_LINK')
  })
})
