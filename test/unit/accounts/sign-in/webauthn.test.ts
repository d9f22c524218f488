/** What of an answer of a passkey is looked at, one thing at a time: everything else in it is right. */
import { describe, expect, spyOn, test } from 'bun:test'
import { createWebAuthn, type RegisteredPasskey } from '../../../../src/accounts/sign-in/passkeys.ts'
import type { AccountId, PasskeyId } from '../../../../src/domain/ids.ts'
import { type Circumstances, createAuthenticator } from '../../../support/sign-in/authenticator.ts'

const ORIGIN = 'https://files.example.org'
const webAuthn = createWebAuthn(() => `${ORIGIN}/`)
const CHALLENGE = Buffer.from('what was asked').toString('base64url')
const OTHER = Buffer.from('something else').toString('base64url')

const device = () => createAuthenticator(ORIGIN)

const kept = (made: RegisteredPasskey, counter = made.counter) => ({
  ...made,
  id: 1 as PasskeyId,
  account_id: 1 as AccountId,
  counter,
})

async function made(by = device(), counter = 0) {
  const passkey = await webAuthn.verifyRegistration(by.make(CHALLENGE, { counter }), CHALLENGE)
  if (passkey === null) throw new Error('the passkey was refused')
  return { by, passkey }
}

/** Parts of an answer that an honest browser would not have changed. */
const DISHONEST: readonly (readonly [string, Circumstances])[] = [
  ['from a page of another origin', { origin: 'https://files.example.org.evil.example' }],
  ['from the same host without TLS', { origin: 'http://files.example.org' }],
  ['from another port', { origin: 'https://files.example.org:8443' }],
  ['from a subdomain', { origin: 'https://sub.files.example.org' }],
  ['for another site', { rpId: 'evil.example' }],
  ['for the site above', { rpId: 'example.org' }],
  ['from a device that was not unlocked', { isUnlocked: false }],
]

describe('a passkey that is made', () => {
  test('is kept with what it is checked by', async () => {
    const { by, passkey } = await made(device(), 3)
    expect(passkey).toMatchObject({
      credential_id: by.passkey.id,
      counter: 3,
      device_type: 'singleDevice',
      backed_up: 0,
      transports: 'internal',
      aaguid: '00000000-0000-0000-0000-000000000000',
    })
  })

  test.each([...DISHONEST, ['as if it were used', { type: 'webauthn.get' }] as const])(
    '%s is refused',
    async (_, circumstances) => {
      expect(await webAuthn.verifyRegistration(device().make(CHALLENGE, circumstances), CHALLENGE)).toBeNull()
    },
  )

  test('for another question, and what is none, is refused', async () => {
    const good = device().make(CHALLENGE)
    expect(await webAuthn.verifyRegistration(device().make(OTHER), CHALLENGE)).toBeNull()
    for (const answer of [
      {},
      { ...good, response: {} },
      { ...good, rawId: 'AAAA' },
      { ...good, type: 'password' },
    ]) {
      expect(await webAuthn.verifyRegistration(answer, CHALLENGE)).toBeNull()
    }
    for (const attestationObject of ['', 'AAAA', '!', good.id]) {
      const response = { ...good.response, attestationObject }
      expect(await webAuthn.verifyRegistration({ ...good, response }, CHALLENGE)).toBeNull()
    }
  })

  test('with the attestation of a maker is refused before anything is fetched for it', async () => {
    using fetched = spyOn(globalThis, 'fetch')
    for (const format of ['apple', 'android-key', 'android-safetynet', 'tpm', 'fido-u2f']) {
      const answer = device().make(CHALLENGE, { attestation: { format, certificate: CERTIFICATE } })
      expect(await webAuthn.verifyRegistration(answer, CHALLENGE)).toBeNull()
    }
    expect(fetched).not.toHaveBeenCalled()
  })

  test('is asked for with what keeps devices from making a second one', async () => {
    const { options } = await webAuthn.registrationOptions('grace', [
      { credential_id: 'AAAA', transports: 'internal,hybrid,unheard-of' },
      { credential_id: 'BBBB', transports: '' },
      { credential_id: 'CCCC', transports: null },
    ])
    expect(options).toMatchObject({
      rp: { id: 'files.example.org', name: 'Holdfast' },
      user: { name: 'grace', displayName: 'grace' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [
        { id: 'AAAA', transports: ['internal', 'hybrid'] },
        { id: 'BBBB', transports: [] },
        { id: 'CCCC', transports: [] },
      ],
    })
  })
})

describe('a passkey that is used', () => {
  test.each([...DISHONEST, ['as if it were made', { type: 'webauthn.create' }] as const])(
    '%s is refused',
    async (_, circumstances) => {
      const { by, passkey } = await made()
      expect(await webAuthn.verifyAuthentication(by.prove(CHALLENGE), CHALLENGE, kept(passkey))).toBe(0)
      const answer = by.prove(CHALLENGE, circumstances)
      expect(await webAuthn.verifyAuthentication(answer, CHALLENGE, kept(passkey))).toBeNull()
    },
  )

  test('for another question, or by another key, is refused', async () => {
    const { by, passkey } = await made()
    expect(await webAuthn.verifyAuthentication(by.prove(OTHER), CHALLENGE, kept(passkey))).toBeNull()
    const stranger = createAuthenticator(ORIGIN)
    const posing = { ...stranger.prove(CHALLENGE), id: by.passkey.id, rawId: by.passkey.id }
    expect(await webAuthn.verifyAuthentication(posing, CHALLENGE, kept(passkey))).toBeNull()
  })

  test('with one bit changed in what is signed, or in the signature, is refused', async () => {
    const { by, passkey } = await made()
    const good = by.prove(CHALLENGE)
    for (const part of ['authenticatorData', 'signature', 'clientDataJSON'] as const) {
      const bytes = Buffer.from(good.response[part], 'base64url')
      for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 1
        const response = { ...good.response, [part]: changed.toString('base64url') }
        expect(
          await webAuthn.verifyAuthentication({ ...good, response }, CHALLENGE, kept(passkey)),
        ).toBeNull()
      }
      const response = { ...good.response, [part]: '' }
      expect(await webAuthn.verifyAuthentication({ ...good, response }, CHALLENGE, kept(passkey))).toBeNull()
    }
  })

  test('of a device that has counted no further is taken for a copy', async () => {
    const { by, passkey } = await made(device(), 5)
    const use = (counter: number) =>
      webAuthn.verifyAuthentication(by.prove(CHALLENGE, { counter }), CHALLENGE, kept(passkey, 7))
    expect([await use(0), await use(6), await use(7), await use(8)]).toEqual([null, null, null, 8])
  })
})

/** Of a certificate whose list of revoked ones is said to be at an address on the web. */
const CERTIFICATE = Buffer.from(
  'MIIBsDCCAVagAwIBAgIUAxTvQ99CyqbHwZlMgfbidIf3a/wwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHYW55Ym9keTAgFw0y' +
    'NjExMjMwOTM2MTNaGA8yMTI2MTAzMDA5MzYxM1owEjEQMA4GA1UEAwwHYW55Ym9keTBZMBMGByqGSM49AgEGCCqGSM49AwEH' +
    'A0IABADyOcjkCFTQwJdoLYfMg3aZgKjerJjDABuAeLhK4pFqShEOFGf5/jHycJfnTl3AqVhhWo2FbKdsZCdSLAQwdpqjgYcw' +
    'gYQwHQYDVR0OBBYEFF5duPsXjH7UtghKM1MUJ9P8ozZPMB8GA1UdIwQYMBaAFF5duPsXjH7UtghKM1MUJ9P8ozZPMA8GA1Ud' +
    'EwEB/wQFMAMBAf8wMQYDVR0fBCowKDAmoCSgIoYgaHR0cDovL2NybC5leGFtcGxlLnRlc3QvbGlzdC5jcmwwCgYIKoZIzj0E' +
    'AwIDSAAwRQIhAJB6S8YCJiDWj5wuJcDaP9qha8qxn9tGF/TaSLHTWGxVAiARm/4Lkk9sIMhhxfRn7iPOw/twrPYshd1M6PyI' +
    'Q1wkXw==',
  'base64',
)
