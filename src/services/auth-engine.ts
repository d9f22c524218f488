import { passkey } from '@better-auth/passkey'
import { betterAuth } from 'better-auth/minimal'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { username } from 'better-auth/plugins/username'
import type { OidcConfig } from '../config.ts'
import { authAdapter } from '../database/auth-adapter.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { noteHidden } from './hidden-errors.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { wrongPasskey } from './signing-in-failures.ts'
import {
  AUTH_PATH,
  CODE_MAY_TAKE,
  COOKIE_LASTS,
  cookiePrefix,
  OIDC,
  SESSION_LASTS,
} from './signing-in-terms.ts'

export interface EngineParts {
  readonly db: Db
  readonly clock: Clock
  readonly publicUrl: string
  /** Signs cookies, and encrypts the secrets of second factors. */
  readonly secret: string
  readonly oidc: OidcConfig | null
  /** Throws for an account that may not sign in. */
  readonly admit: (account: string) => Promise<void>
  /** Makes the account of somebody another server knows, when it is the first time. Throws when nobody may join. */
  readonly join: (subject: string, wanted: string) => Promise<void>
  readonly log: (message: string, error: unknown) => void
}

/**
 * better-auth, as Holdfast uses it: sessions, passwords, codes, passkeys and OpenID Connect on our own tables. It
 * listens at no address, makes no account, and calls nobody but the configured server.
 */
export function createAuthEngine(parts: EngineParts) {
  const { db, clock, publicUrl, secret, oidc, admit, join, log } = parts
  const isSecure = publicUrl.startsWith('https:')
  return betterAuth({
    appName: 'Holdfast',
    baseURL: publicUrl,
    basePath: AUTH_PATH,
    secret,
    database: authAdapter(db),
    telemetry: { enabled: false },
    // Tries are counted by our own windows, which nodes share.
    rateLimit: { enabled: false },
    logger: {
      level: 'error',
      log(_level, message, ...details: unknown[]) {
        const error = details.find((each) => each instanceof Error)
        noteHidden(error)
        if (!(error instanceof Refusal)) log(message, error)
      },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      password: { hash: hashPassword, verify: ({ password, hash }) => verifyPassword(password, hash) },
    },
    advanced: {
      cookiePrefix: cookiePrefix(publicUrl),
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isSecure, httpOnly: true, sameSite: 'lax', path: '/' },
      ipAddress: { disableIpTracking: true },
      database: { generateId: 'serial' },
    },
    user: {
      modelName: 'accounts',
      // Accounts have no address: what better-auth wants one for is answered with the name.
      fields: { name: 'username', email: 'username', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'account_id',
        token: 'token_hash',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      expiresIn: COOKIE_LASTS / 1000,
      disableSessionRefresh: true,
      freshAge: 0,
    },
    account: {
      modelName: 'identities',
      fields: {
        userId: 'account_id',
        accountId: 'subject',
        providerId: 'provider',
        password: 'password_hash',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      // What another server hands out is of no use to us, so none of it is kept.
      updateAccountOnSignIn: false,
      accountLinking: { enabled: false },
    },
    verification: {
      modelName: 'verifications',
      fields: {
        identifier: 'identifier_hash',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    databaseHooks: {
      session: {
        create: {
          async before(session) {
            await admit(session.userId)
            return { data: { ...session, expiresAt: new Date(clock.now() + SESSION_LASTS) } }
          },
        },
      },
    },
    plugins: [
      username({
        minUsernameLength: 1,
        maxUsernameLength: 100,
        usernameValidator: () => true,
        schema: { user: { fields: { username: 'username', displayUsername: 'username' } } },
      }),
      twoFactor({
        issuer: 'Holdfast',
        twoFactorCookieMaxAge: CODE_MAY_TAKE / 1000,
        allowPasswordless: true,
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor' } },
          twoFactor: {
            modelName: 'two_factors',
            fields: {
              userId: 'account_id',
              backupCodes: 'recovery_codes',
              failedVerificationCount: 'failures',
              lockedUntil: 'locked_until',
            },
          },
        },
      }),
      passkey({
        rpID: new URL(publicUrl).hostname,
        rpName: 'Holdfast',
        origin: new URL(publicUrl).origin,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        authentication: {
          // It stands for the password and the code, so it must have been unlocked, not only be there.
          afterVerification({ verification }) {
            if (!verification.authenticationInfo.userVerified) throw wrongPasskey()
          },
        },
        schema: {
          passkey: {
            modelName: 'passkeys',
            fields: {
              userId: 'account_id',
              credentialID: 'credential_id',
              publicKey: 'public_key',
              deviceType: 'device_type',
              backedUp: 'backed_up',
              createdAt: 'created_at',
            },
          },
        },
      }),
      genericOAuth({
        config:
          oidc === null
            ? []
            : [
                {
                  providerId: OIDC,
                  discoveryUrl: `${oidc.issuer}/.well-known/openid-configuration`,
                  clientId: oidc.clientId,
                  clientSecret: oidc.clientSecret,
                  scopes: ['openid', 'profile'],
                  pkce: true,
                  disableSignUp: true,
                  async mapProfileToUser(profile) {
                    const { sub, preferred_username: wanted } = profile
                    if (typeof sub !== 'string' || sub === '') return {}
                    await join(sub, typeof wanted === 'string' ? wanted : '')
                    // Looked for besides the subject, and nobody's name: it holds an @.
                    return { id: sub, name: sub, email: `${OIDC}@nobody.invalid` }
                  },
                },
              ],
      }),
    ],
  })
}

export type AuthEngine = ReturnType<typeof createAuthEngine>
