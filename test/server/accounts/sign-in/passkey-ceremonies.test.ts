/** Each question to a passkey is answered once, in time, by whoever was asked, and by the device that keeps the passkey. */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { MINUTE, SECOND } from '../../../../src/domain/clock.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../../support/clients/site-visitor.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'
import {
  type Authenticator,
  type Circumstances,
  createAuthenticator,
} from '../../../support/sign-in/authenticator.ts'

const PUBLIC = 'http://files.example.org'
const COOKIE = 'holdfast.passkey'

const host = await hostOfFile({ publicUrl: PUBLIC })

let people = 0
const question = z.object({ challenge: z.string() })
const newBrowser = () => visitor(() => host.url)

interface Owner extends Visitor {
  readonly username: string
  readonly device: Authenticator
}

async function person(): Promise<Owner> {
  const { username } = await host.addAccount(`ceremony${++people}`)
  return { ...(await signedIn(host, username)), username, device: createAuthenticator(PUBLIC) }
}

async function askToMake(at: Visitor): Promise<string> {
  const asked = await at.send('POST', '/api/v1/passkeys/options', { password: PASSWORD })
  return asked.data(question).challenge
}

const keep = async (at: Visitor, answer: object) =>
  (await at.send('POST', '/api/v1/passkeys', { name: 'any', answer })).error

const countOf = async (at: Visitor) => (await at.get('/api/v1/passkeys')).data(z.array(z.unknown())).length

async function owner(circumstances: Circumstances = {}): Promise<Owner> {
  const at = await person()
  expect(await keep(at, at.device.make(await askToMake(at), circumstances))).toBeNull()
  return at
}

async function askToSignIn(at: Visitor): Promise<string> {
  return (await at.send('POST', '/api/v1/session/passkey/options')).data(question).challenge
}

const answerWith = async (at: Visitor, answer: object) =>
  (await at.send('POST', '/api/v1/session/passkey', { answer })).error

const sessionIn = async (at: Visitor) => {
  const reply = await at.get('/api/v1/session')
  return reply.error ?? reply.data(z.object({ username: z.string() })).username
}

async function signIn(device: Authenticator, circumstances: Circumstances = {}): Promise<string> {
  const at = newBrowser()
  const answer = device.prove(await askToSignIn(at), circumstances)
  return (await answerWith(at, answer)) ?? (await sessionIn(at))
}

const DISHONEST: readonly (readonly [string, Circumstances])[] = [
  ['another origin', { origin: 'http://evil.example' }],
  ['another site', { rpId: 'evil.example' }],
  ['a device that was not unlocked', { isUnlocked: false }],
]

describe('a sign-in', () => {
  test.each(DISHONEST)('from %s is refused', async (_, circumstances) => {
    const { device, username } = await owner()
    expect(await signIn(device, circumstances)).toBe('NOT_IDENTIFIED')
    expect(await signIn(device)).toBe(username)
  })

  test('answers its question once: neither again, nor after a wrong answer, nor twice at the same moment', async () => {
    const { device } = await owner()
    const at = newBrowser()
    const answer = device.prove(await askToSignIn(at))
    const token = at.cookies.get(COOKIE) ?? ''
    const inBrowser = () => {
      const other = newBrowser()
      other.cookies.set(COOKIE, token)
      return other
    }
    const outcomes = await Promise.all([0, 1, 2, 3].map(() => answerWith(inBrowser(), answer)))
    expect(outcomes.sort()).toEqual(['INVALID_REQUEST', 'INVALID_REQUEST', 'INVALID_REQUEST', null])
    expect(await answerWith(inBrowser(), answer)).toBe('INVALID_REQUEST')

    const challenge = await askToSignIn(at)
    const wrong = device.prove(challenge, { origin: 'http://evil.example' })
    expect(await answerWith(at, wrong)).toBe('NOT_IDENTIFIED')
    expect(await answerWith(at, device.prove(challenge))).toBe('INVALID_REQUEST')
  })

  test('answers the question of its own browser, and none without the cookie of it', async () => {
    const { device } = await owner()
    const [one, two] = [newBrowser(), newBrowser()]
    const answer = device.prove(await askToSignIn(one))
    await askToSignIn(two)
    expect(await answerWith(two, answer)).toBe('NOT_IDENTIFIED')
    expect(await answerWith(newBrowser(), answer)).toBe('INVALID_REQUEST')
    const guessed = newBrowser()
    guessed.cookies.set(COOKIE, 'a'.repeat(32))
    expect(await answerWith(guessed, answer)).toBe('INVALID_REQUEST')
  })

  test('answers within five minutes', async () => {
    const { device, username } = await owner()
    const at = newBrowser()
    const inTime = device.prove(await askToSignIn(at))
    host.clock.advance(5 * MINUTE - 10 * SECOND)
    expect(await answerWith(at, inTime)).toBeNull()
    expect(await sessionIn(at)).toBe(username)
    const late = newBrowser()
    const answer = device.prove(await askToSignIn(late))
    host.clock.advance(5 * MINUTE)
    expect(await answerWith(late, answer)).toBe('INVALID_REQUEST')
  })

  test('does not answer what a passkey is made by', async () => {
    const at = await owner()
    const answer = at.device.prove(await askToMake(at))
    expect(await answerWith(at, answer)).toBe('INVALID_REQUEST')
  })

  test('goes to the account that keeps the passkey, whatever the browser says whose it is', async () => {
    const [at, other] = [await owner(), await owner()]
    const userHandle = Buffer.from(other.username).toString('base64url')
    expect(await signIn(at.device, { userHandle })).toBe(at.username)
  })

  test('of a device that has counted no further is refused: somebody has a copy', async () => {
    const { device, username } = await owner({ counter: 5 })
    expect(await signIn(device, { counter: 5 })).toBe('NOT_IDENTIFIED')
    expect(await signIn(device, { counter: 6 })).toBe(username)
    expect(await signIn(device, { counter: 6 })).toBe('NOT_IDENTIFIED')
    expect(await signIn(device, { counter: 0 })).toBe('NOT_IDENTIFIED')
    expect(await signIn(device, { counter: 7 })).toBe(username)
  })

  test('counts also where it only proves a session', async () => {
    const at = await owner({ counter: 1 })
    const prove = async (counter: number) => {
      const answer = at.device.prove(await askToSignIn(at), { counter })
      return (await at.send('POST', '/api/v1/session/proof/passkey', { answer })).error
    }
    expect([await prove(2), await prove(2), await prove(3)]).toEqual([null, 'NOT_IDENTIFIED', null])
    expect(await signIn(at.device, { counter: 3 })).toBe('NOT_IDENTIFIED')
  })

  test('leaves nothing of its question behind', async () => {
    const rows = () => host.database.selectFrom('verifications').select('id').execute()
    const { device } = await owner()
    const before = (await rows()).length
    const at = newBrowser()
    const answer = device.prove(await askToSignIn(at))
    expect((await rows()).length).toBe(before + 1)
    expect(await answerWith(at, answer)).toBeNull()
    expect((await rows()).length).toBe(before)
  })
})

describe('a new passkey', () => {
  test.each(DISHONEST)('from %s is refused', async (_, circumstances) => {
    const at = await person()
    expect(await keep(at, at.device.make(await askToMake(at), circumstances))).toBe('INVALID_REQUEST')
    expect(await countOf(at)).toBe(0)
  })

  test('answers its question once, and in time', async () => {
    const at = await person()
    const challenge = await askToMake(at)
    expect(await keep(at, at.device.make(challenge))).toBeNull()
    expect(await keep(at, createAuthenticator(PUBLIC).make(challenge))).toBe('INVALID_REQUEST')
    const late = createAuthenticator(PUBLIC).make(await askToMake(at))
    host.clock.advance(5 * MINUTE)
    expect(await keep(at, late)).toBe('INVALID_REQUEST')
    expect(await countOf(at)).toBe(1)
  })

  test('answers what its own account was asked, and not what a sign-in is asked', async () => {
    const [at, thief] = [await person(), await person()]
    const answer = thief.device.make(await askToMake(at))
    thief.cookies.set(COOKIE, at.cookies.get(COOKIE) ?? '')
    expect(await keep(thief, answer)).toBe('INVALID_REQUEST')
    expect(await keep(at, at.device.make(await askToSignIn(at)))).toBe('INVALID_REQUEST')
    expect([await countOf(at), await countOf(thief)]).toEqual([0, 0])
  })

  test('is not that of another account', async () => {
    const [at, thief] = [await owner(), await person()]
    expect(await keep(thief, at.device.make(await askToMake(thief)))).toBe('INVALID_REQUEST')
    expect(await signIn(at.device)).toBe(at.username)
  })
})
