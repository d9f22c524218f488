/** A device that keeps one passkey, as WebAuthn has it: what a browser would answer when its owner has unlocked it. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface Authenticator {
  /** The answer to what is asked when a passkey is made. */
  make(challenge: string): object
  /** The answer to what is asked when somebody signs in. */
  prove(challenge: string): { readonly id: string }
}

/** Who is there, and has unlocked it. */
const UNLOCKED = 0x05
const WITH_KEY = 0x40

export function createAuthenticator(origin: string): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credential = randomBytes(16)
  const id = credential.toString('base64url')
  const site = sha256(new URL(origin).hostname)
  // In CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}, which is ES256 (RFC 9052).
  const key = Buffer.concat([
    Buffer.from('a501020326200121' + '5820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  const told = (type: string, challenge: string) => Buffer.from(JSON.stringify({ type, challenge, origin }))
  const seen = (flags: number) => Buffer.concat([site, Buffer.from([flags, 0, 0, 0, 0])])
  const answer = (response: object) => ({
    id,
    rawId: id,
    type: 'public-key',
    response,
    clientExtensionResults: {},
  })

  return {
    make(challenge) {
      const length = Buffer.from([0, credential.length])
      const data = Buffer.concat([seen(UNLOCKED | WITH_KEY), Buffer.alloc(16), length, credential, key])
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        text('fmt'),
        text('none'),
        text('attStmt'),
        Buffer.from([0xa0]),
        text('authData'),
        Buffer.from([0x58, data.length]),
        data,
      ])
      return answer({
        clientDataJSON: told('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      })
    },

    prove(challenge) {
      const client = told('webauthn.get', challenge)
      const data = seen(UNLOCKED)
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
      })
    },
  }
}

/** A text of CBOR, shorter than 24 bytes. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
}

function sha256(value: string | Buffer): Buffer {
  return createHash('sha256').update(value).digest()
}
