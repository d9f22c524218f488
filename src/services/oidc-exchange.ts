import type { Configuration, CustomFetch, IDToken } from 'openid-client'
import type { OidcConfig } from '../config.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import { bodyUpTo } from './bounded-body.ts'
import { isLoopback } from './loopback.ts'

/** What ties the answer of the other server to the question: to be kept by the browser that is sent there. */
export interface OidcSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Seconds since the epoch. */
  readonly begunAt: number
}

/** Somebody whom the other server has named. */
export interface OidcPerson {
  readonly subject: string
  /** What they are called there; empty when it does not say. Asks the other server when the ID token does not tell. */
  preferredName(): Promise<string>
}

/**
 * The code flow of OpenID Connect with PKCE, state and nonce, by a certified library. Signatures, issuer, audience, time
 * and nonce of ID tokens are checked there. Everything throws when the other server does not answer, or not as it has to.
 */
export interface OidcExchange {
  /** `again`: the other server is to ask for the sign-in even when it knows who is there. */
  begin(
    redirect: string,
    again: boolean,
  ): Promise<{ readonly address: string; readonly secrets: OidcSecrets }>
  /** `answer`: the address that somebody was sent back to. Throws also when `again` was asked for in vain. */
  finish(answer: URL, secrets: OidcSecrets, again: boolean): Promise<OidcPerson>
}

/** How long one answer of the other server is waited for. */
const ANSWERS_WITHIN = 5 * SECOND
/** Bytes of one answer, many times what discovery and keys take. */
const LONGEST_ANSWER = 256 * 1024
/** How long it is believed what the other server has said of itself. */
const KNOWN_FOR = HOUR
/** How far its clock may be behind. */
const CLOCKS_DIFFER = MINUTE / SECOND

export function createOidcExchange(config: OidcConfig, monotonic: () => number): OidcExchange {
  let known: { readonly from: Promise<Configuration>; readonly since: number } | null = null

  /** One question for all who come meanwhile, so a server that hangs is asked once at a time. */
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

/** `auth_time` belongs into every answer to `max_age`, but not all servers know that; those that tell it are believed. */
function assertAskedAgain({ auth_time: at }: IDToken, begunAt: number): void {
  if (at !== undefined && at < begunAt - CLOCKS_DIFFER) {
    throw new Error('the sign-in at the other server is older than what was asked for')
  }
}

/** The library goes by the system's time, and so does what is compared with it. */
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
      // Off loopback the setting is refused, see `usableOidc`.
      execute: [
        client.enableNonRepudiationChecks,
        ...(isLoopback(address) ? [client.allowInsecureRequests] : []),
      ],
    },
  )
  // The library compares it only where it makes the address itself, and then a trailing slash has to be written as there.
  const said = found.serverMetadata().issuer
  if (said.replace(/\/$/, '') !== issuer) throw new Error(`the server calls itself ${JSON.stringify(said)}`)
  return found
}

/** Reads the whole answer before the library does, and no more than it may have. */
const boundedFetch: CustomFetch = async (address, { headers, method, body, signal }) => {
  const limit = AbortSignal.timeout(ANSWERS_WITHIN)
  const response = await fetch(address, {
    headers,
    method,
    body: body ?? null,
    redirect: 'manual',
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  })
  const bytes = await bodyUpTo(response, LONGEST_ANSWER)
  return new Response(bytes, { status: response.status, headers: response.headers })
}
