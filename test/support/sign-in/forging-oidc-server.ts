/** An OpenID Connect server that issues any ID token that a test wants, valid or forged. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { CLIENT } from './oidc-server.ts'

export type Claims = Record<string, unknown>

/** Makes the token from the claims of a valid one. */
export type Forgery = (claims: Claims) => string | undefined

export interface ForgingServer extends AsyncDisposable {
  readonly issuer: string
  /** Number of discovery requests so far. */
  readonly discoveries: () => number
  /** Sets how the next tokens are made. */
  forge(forgery: Forgery): void
  /** Replaces the next discovery responses; null: the real one. */
  discoverAs(answer: (() => Response) | null): void
  /** Sets the nonce of the next tokens. */
  expect(nonce: string | null): void
}

const [ours, strangers] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }))
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(claims: Claims, key: KeyObject | undefined): string {
  if (key === undefined) throw new Error('there is no key')
  const text = `${encoded({ alg: 'RS256', kid: 'one' })}.${encoded(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

export const good: Forgery = (claims) => signed(claims, ours?.privateKey)
export const byAnotherKey: Forgery = (claims) => signed(claims, strangers?.privateKey)
export const unsigned: Forgery = (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`
export const noToken: Forgery = () => undefined

/** Signs with HMAC and the client secret, which the client must reject. */
export const byTheSecret: Forgery = (claims) => {
  const text = `${encoded({ alg: 'HS256' })}.${encoded(claims)}`
  return `${text}.${createHmac('sha256', CLIENT.clientSecret).update(text).digest('base64url')}`
}

export function startForgingServer(): ForgingServer {
  let forgery = good
  let nonce: string | null = null
  let discoveries = 0
  let discovery: (() => Response) | null = null

  function answer(request: Request): Response {
    const { pathname } = new URL(request.url)
    if (pathname === '/.well-known/openid-configuration') {
      discoveries++
      return (
        discovery?.() ??
        Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        })
      )
    }
    if (pathname === '/keys') {
      return Response.json({
        keys: [{ ...ours?.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256' }],
      })
    }
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, aud: CLIENT.clientId, sub: 'somebody', iat: now, exp: now + 60, nonce }
    return Response.json({ access_token: 'any', token_type: 'Bearer', id_token: forgery(claims) })
  }

  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  const issuer = `http://127.0.0.1:${server.port}`
  return {
    issuer,
    discoveries: () => discoveries,
    forge: (next) => {
      forgery = next
    },
    discoverAs: (next) => {
      discovery = next
    },
    expect: (next) => {
      nonce = next
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
