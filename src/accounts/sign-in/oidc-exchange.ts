import type { Configuration, CustomFetch, IDToken } from 'openid-client'
import type { OidcConfig } from '../../config/setting-groups.ts'
import { isLoopback } from '../../core/unknown-proxies.ts'
import { webAddress } from '../../domain/addresses.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/clock.ts'

export interface OidcSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Seconds since the epoch. */
  readonly begunAt: number
}

export interface OidcPerson {
  readonly subject: string
  /** Empty when the provider names none. Requests user info when the ID token lacks it. */
  preferredName(): Promise<string>
}

/**
 * OpenID Connect's authorization code flow with PKCE. The library checks signature, issuer, audience, time
 * and nonce of ID tokens. Every method throws when the provider fails or violates the specification.
 */
export interface OidcExchange {
  /** `again`: the provider must authenticate the person even if it has a session. */
  begin(
    redirect: string,
    again: boolean,
  ): Promise<{ readonly address: string; readonly secrets: OidcSecrets }>
  /** `answer`: the callback address with its query. Also throws when `again` was not honoured. */
  finish(answer: URL, secrets: OidcSecrets, again: boolean): Promise<OidcPerson>
}

const ANSWERS_WITHIN = 5 * SECOND
/** Bytes, many times the size of discovery and keys. */
const LONGEST_ANSWER = 256 * 1024
const KNOWN_FOR = HOUR
/** Tolerated clock difference in seconds. */
const CLOCKS_DIFFER = MINUTE / SECOND

export function createOidcExchange(config: OidcConfig, monotonic: () => number): OidcExchange {
  let known: { readonly from: Promise<Configuration>; readonly since: number } | null = null

  /** Concurrent callers share one request, so that a hanging provider gets one at a time. */
  function discovered(): Promise<Configuration> {
    const now = monotonic()
    if (known !== null && now - known.since < KNOWN_FOR) return known.from
    const asked = { from: discover(config), since: now }
    known = asked
    asked.from.catch(() => {
      if (known === asked) known = null
    })
    return asked.from
  }

  return {
    async begin(redirect, again) {
      const client = await import('openid-client')
      const found = await discovered()
      const secrets = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        begunAt: seconds(),
      }
      const { href } = client.buildAuthorizationUrl(found, {
        redirect_uri: redirect,
        scope: 'openid profile',
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
        ...(again ? { prompt: 'login', max_age: '0' } : {}),
      })
      return { address: href, secrets }
    },

    async finish(answer, { state, nonce, verifier, begunAt }, again) {
      const client = await import('openid-client')
      const found = await discovered()
      const tokens = await client.authorizationCodeGrant(found, answer, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the token endpoint sent no ID token')
      if (again) assertAskedAgain(claims, begunAt)
      return {
        subject: claims.sub,
        async preferredName() {
          if (typeof claims.preferred_username === 'string') return claims.preferred_username
          if (found.serverMetadata().userinfo_endpoint === undefined) return ''
          const said = await client.fetchUserInfo(found, tokens.access_token, claims.sub)
          return said.preferred_username ?? ''
        },
      }
    },
  }
}

/** A response to `max_age` must have `auth_time`, but some providers omit it: checked where present. */
function assertAskedAgain({ auth_time: at }: IDToken, begunAt: number): void {
  if (at !== undefined && at < begunAt - CLOCKS_DIFFER) {
    throw new Error('the sign-in at the OpenID Connect provider is older than the request for it')
  }
}

/** The library uses the system's time, so the comparison must too. */
function seconds(): number {
  return Math.floor(Date.now() / SECOND)
}

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
  const client = await import('openid-client')
  const { ClientSecretBasic, ClientSecretPost } = client
  const address = new URL(`${issuer}/.well-known/openid-configuration`)
  const found = await client.discovery(
    address,
    clientId,
    undefined,
    (as, ...rest) => {
      const methods = as.token_endpoint_auth_methods_supported
      const isBasic = methods !== undefined && !methods.includes('client_secret_post')
      return (isBasic ? ClientSecretBasic : ClientSecretPost)(clientSecret)(as, ...rest)
    },
    {
      timeout: ANSWERS_WITHIN / SECOND,
      [client.customFetch]: boundedFetch,
      // Plain HTTP is refused off loopback: see `usableOidc`.
      execute: [
        client.enableNonRepudiationChecks,
        ...(isLoopback(address) ? [client.allowInsecureRequests] : []),
      ],
    },
  )
  // The library compares the issuer only where it builds the discovery address itself, and would then insist
  // on a trailing slash.
  const said = found.serverMetadata().issuer
  if (said.replace(/\/$/, '') !== issuer)
    throw new Error(`the issuer in the discovery document is ${JSON.stringify(said)}`)
  return found
}

/** Limits size and time before the library reads the response. */
const boundedFetch: CustomFetch = async (address, { headers, method, body, signal }) => {
  const limit = AbortSignal.timeout(ANSWERS_WITHIN)
  const response = await fetch(webAddress(address), {
    headers,
    method,
    body: body ?? null,
    redirect: 'manual',
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  })
  const bytes = await bodyUpTo(response, LONGEST_ANSWER)
  return new Response(bytes, { status: response.status, headers: response.headers })
}

/** Throws, and closes the connection, when the body is longer than `most` bytes. */
async function bodyUpTo(response: Response, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null) return null
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body) {
    length += chunk.byteLength
    if (length > most) throw new Error(`the answer is longer than ${most} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
