import type { BetterAuthPlugin } from '@better-auth/core'
import { createAuthEndpoint } from '@better-auth/core/api'
import { passkey } from '@better-auth/passkey'
import { setSessionCookie } from 'better-auth/cookies'
import { symmetricDecrypt } from 'better-auth/crypto'
import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { username } from 'better-auth/plugins/username'
import * as z from 'zod'
import { authAdapter } from '../database/auth-adapter.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { noteHidden } from './hidden-errors.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { wrongPasskey } from './signing-in-failures.ts'
import { AUTH_PATH, CODE_MAY_TAKE, COOKIE_LASTS, cookiePrefix, SESSION_LASTS } from './signing-in-terms.ts'

export interface EngineParts {
  readonly db: Db
  readonly clock: Clock
  readonly publicUrl: string
  /** Signs cookies, and encrypts the secrets of second factors. */
  readonly secret: string
  /** Throws for an account that may not sign in. */
  readonly admit: (account: string) => Promise<void>
  readonly log: (message: string, error: unknown) => void
}

/**
 * better-auth, as Holdfast uses it: sessions, passwords, codes and passkeys on our own tables. It listens at no address,
 * makes no account, and calls nobody.
 */
export function createAuthEngine(parts: EngineParts) {
  const { db, clock, publicUrl, secret, admit, log } = parts
  const isSecure = publicUrl.startsWith('https:')
  const { api } = betterAuth({
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
            const now = clock.now()
            const times = { createdAt: new Date(now), expiresAt: new Date(now + SESSION_LASTS) }
            return { data: { ...session, ...times } }
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
        // Wrong codes are counted by our own windows, in which those of strangers lock out no known browser.
        accountLockout: { enabled: false },
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
      ownSessions(),
    ],
  })
  return { api, decrypted: (text: string) => symmetricDecrypt({ key: secret, data: text }) }
}

/** Sessions of those whom our own code has identified. */
function ownSessions() {
  return {
    id: 'own-sessions',
    endpoints: {
      /** Throws what `admit` throws. */
      beginSession: createAuthEndpoint.serverOnly(
        { method: 'POST', body: z.object({ account: z.string() }) },
        async (ctx) => {
          const { internalAdapter } = ctx.context
          const user = await internalAdapter.findUserById(ctx.body.account)
          if (user === null) throw new Error('there is no such account')
          await setSessionCookie(ctx, { session: await internalAdapter.createSession(user.id), user })
          return ctx.json({})
        },
      ),
    },
  } satisfies BetterAuthPlugin
}

export type AuthEngine = ReturnType<typeof createAuthEngine>
