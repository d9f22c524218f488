/**
 * A software authenticator with one passkey: produces what a browser answers after its owner has unlocked it
 * (WebAuthn).
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto'

export interface Authenticator {
  /** Key material to recreate the same authenticator. */
  readonly passkey: KeptPasskey
  /** Response to a registration. */
  make(challenge: string, circumstances?: Circumstances): Made
  /** Response to an authentication. */
  prove(challenge: string, circumstances?: Circumstances): Proved
}

export interface KeptPasskey {
  /** Credential id in base64url. */
  readonly id: string
  /** PKCS #8 in PEM. */
  readonly privateKey: string
}

interface Answer<Response> {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: Response
  readonly clientExtensionResults: object
}

type Made = Answer<{ clientDataJSON: string; attestationObject: string; transports: string[] }>
type Proved = Answer<{
  clientDataJSON: string
  authenticatorData: string
  signature: string
  userHandle?: string
}>

/** Deviations from an honest authenticator and browser. */
export interface Circumstances {
  /** Origin in the client data. */
  readonly origin?: string
  /** Relying party id that the authenticator signs for. */
  readonly rpId?: string
  /** False: user presence without user verification. */
  readonly isUnlocked?: boolean
  /** Signature counter; 0 for authenticators without one. */
  readonly counter?: number
  /** User handle that the browser reports. */
  readonly userHandle?: string
  /** `webauthn.get` or `webauthn.create`. */
  readonly type?: string
  /** An unsolicited attestation, with an invalid signature. */
  readonly attestation?: { readonly format: string; readonly certificate: Buffer }
}

const PRESENT = 0x01
/** User presence and user verification. */
const UNLOCKED = 0x05
const WITH_KEY = 0x40

export function createAuthenticator(origin: string, kept: KeptPasskey = newPasskey()): Authenticator {
  const privateKey = createPrivateKey(kept.privateKey)
  const { x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const credential = Buffer.from(kept.id, 'base64url')
  // COSE key in CBOR, {1: 2, 3: -7, -1: 1, -2: x, -3: y}: ES256 (RFC 9052).
  const key = Buffer.concat([
    Buffer.from('a501020326200121' + '5820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  const told = (type: string, challenge: string, circumstances: Circumstances) =>
    Buffer.from(
      JSON.stringify({ type: circumstances.type ?? type, challenge, origin: circumstances.origin ?? origin }),
    )
  const seen = (flags: number, { rpId, isUnlocked = true, counter = 0 }: Circumstances) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    const site = sha256(rpId ?? new URL(origin).hostname)
    return Buffer.concat([site, Buffer.from([flags | (isUnlocked ? UNLOCKED : PRESENT)]), count])
  }
  const answer = <Response>(response: Response) => ({
    id: kept.id,
    rawId: kept.id,
    type: 'public-key' as const,
    response,
    clientExtensionResults: {},
  })

  return {
    passkey: kept,

    make(challenge, circumstances = {}) {
      const length = Buffer.from([0, credential.length])
      const data = Buffer.concat([seen(WITH_KEY, circumstances), Buffer.alloc(16), length, credential, key])
      const { format, certificate } = circumstances.attestation ?? { format: 'none' }
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        text('fmt'),
        text(format),
        text('attStmt'),
        certificate === undefined ? Buffer.from([0xa0]) : statement(certificate),
        text('authData'),
        bytes(data),
      ])
      return answer({
        clientDataJSON: told('webauthn.create', challenge, circumstances).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      })
    },

    prove(challenge, circumstances = {}) {
      const client = told('webauthn.get', challenge, circumstances)
      const data = seen(0, circumstances)
      const { userHandle } = circumstances
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
        ...(userHandle === undefined ? {} : { userHandle }),
      })
    },
  }
}

function newPasskey(): KeptPasskey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    id: randomBytes(16).toString('base64url'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** CBOR for `{alg: -7, sig: …, x5c: [certificate]}`. */
function statement(certificate: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0xa3]),
    text('alg'),
    Buffer.from([0x26]),
    text('sig'),
    bytes(Buffer.alloc(64)),
    text('x5c'),
    Buffer.from([0x81]),
    bytes(certificate),
  ])
}

/** CBOR byte string of 24 to 65,535 bytes. */
function bytes(value: Buffer): Buffer {
  const length = value.length < 256 ? [0x58, value.length] : [0x59, value.length >> 8, value.length & 255]
  return Buffer.concat([Buffer.from(length), value])
}

/** CBOR text string of less than 24 bytes. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
}

function sha256(value: string | Buffer): Buffer {
  return createHash('sha256').update(value).digest()
}
