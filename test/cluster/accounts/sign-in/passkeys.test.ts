import { expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE } from '../../../../src/domain/clock.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import { type Authenticator, createAuthenticator } from '../../../support/sign-in/authenticator.ts'

const PUBLIC = 'http://files.example.org'

const host = await hostOfFile({ publicUrl: PUBLIC })

let people = 0
const asked = z.object({ challenge: z.string() })

interface Owner extends Visitor {
  readonly username: string
  readonly device: Authenticator
}

async function withPasskey(name = 'This computer'): Promise<Owner> {
  const { username } = await host.addAccount(`keyed${++people}`)
  const person = await signedIn(host, username)
  const device = createAuthenticator(PUBLIC)
  const begun = await person.send('POST', '/api/v1/passkeys/options', { password: PASSWORD })
  const answer = device.make(begun.data(asked).challenge)
  const added = await person.send('POST', '/api/v1/passkeys', { name, answer })
  expect(added.text).toBe('{"success":true}')
  return { ...person, username, device }
}

const begin = (browser: Visitor) => browser.send('POST', '/api/v1/session/passkey/options')

async function signIn(browser: Visitor, { device }: Owner, changed: object = {}): Promise<string | null> {
  const { challenge } = (await begin(browser)).data(asked)
  const answer = { ...device.prove(challenge), ...changed }
  return (await browser.send('POST', '/api/v1/session/passkey', { answer })).error
}

const listed = z.array(z.object({ id: z.number(), name: z.string() }))

test('a passkey signs its owner in', async () => {
  const owner = await withPasskey()
  const browser = visitor(() => host.url)
  expect(await signIn(browser, owner)).toBeNull()
  const session = (await browser.get('/api/v1/session')).data(z.object({ username: z.string() }))
  expect(session.username).toBe(owner.username)
})

test('a passkey that was removed is not known any more', async () => {
  const owner = await withPasskey()
  const [passkey] = (await owner.get('/api/v1/passkeys')).data(listed)
  expect((await owner.send('DELETE', `/api/v1/passkey/${passkey?.id}`)).status).toBe(200)
  expect(
    await signIn(
      visitor(() => host.url),
      owner,
    ),
  ).toBe('NOT_IDENTIFIED')
})

test('who is disabled is told so, and is not signed in', async () => {
  const owner = await withPasskey()
  await host.disableAccount(owner.username)
  const browser = visitor(() => host.url)
  expect(await signIn(browser, owner)).toBe('ACCOUNT_DISABLED')
  expect((await browser.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
})

test('somebody else’s passkey, and what is none, is not known', async () => {
  const [owner, other] = [await withPasskey(), await withPasskey()]
  const { id } = other.device.prove('')
  for (const changed of [{ id, rawId: id }, { id: 'a\0b' }, { id: '' }]) {
    expect(
      await signIn(
        visitor(() => host.url),
        owner,
        changed,
      ),
    ).toBe('NOT_IDENTIFIED')
  }
})

test('the name of a passkey has no control characters', async () => {
  const owner = await withPasskey('\0My\tphone\n')
  const [passkey] = (await owner.get('/api/v1/passkeys')).data(listed)
  expect(passkey?.name).toBe('Myphone')
  await owner.send('PATCH', `/api/v1/passkey/${passkey?.id}`, { name: 'My \0tablet' })
  expect((await owner.get('/api/v1/passkeys')).data(listed)[0]?.name).toBe('My tablet')
})

test('three hundred sign-ins by passkey, as of a school, are begun from one network in a quarter of an hour', async () => {
  host.clock.advance(15 * MINUTE)
  const browser = visitor(() => host.url)
  const codes = []
  for (let at = 0; at < 301; at++) codes.push((await begin(browser)).error)
  expect(codes).toEqual([...Array(300).fill(null), 'RATE_LIMITED'])
  host.clock.advance(15 * MINUTE)
  expect((await begin(browser)).error).toBeNull()
})
