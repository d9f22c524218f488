import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE } from '../domain/clock.ts'
import type { Outbox } from '../mail/outbox.ts'
import { oneTimeLinkCreator } from './one-time-links.ts'
import { createChallenges } from './sign-in/challenges.ts'
import { createOidc, createOidcExchange, createOidcProvider } from './sign-in/oidc.ts'
import { createPasskeyChallenges, createPasskeys, createWebAuthn } from './sign-in/passkeys.ts'
import { createPasswordResets, dropExpiredMails } from './sign-in/password-resets.ts'
import { createReauthentication } from './sign-in/reauthentication.ts'
import { createSecondFactor, createSecondFactorCodes } from './sign-in/second-factor.ts'
import { createSessionStart, createSessions } from './sign-in/sessions.ts'
import { createCodeStep, createKnownBrowsers, createSignIn } from './sign-in/sign-in.ts'
import { createSignUp } from './sign-in/sign-up.ts'

/** `secret`: encrypts the secrets of authenticator apps. */
export function createSignInModule(core: Core, needs: { readonly secret: string; readonly outbox: Outbox }) {
  const { db, clock, random, log, rates, signing, config, publicUrl } = core
  const { outbox } = needs
  const sessionStart = createSessionStart({ clock, random, publicUrl })
  const challenges = createChallenges({ db, clock, random, publicUrl })
  const webAuthn = createWebAuthn(publicUrl)
  const codes = createSecondFactorCodes({ clock, random, secret: needs.secret })
  const sessions = createSessions(db, clock)
  const reauthentication = createReauthentication(db, rates, clock, sessions)
  const knownBrowsers = createKnownBrowsers({ signing, clock, random, publicUrl })
  const signUp = createSignUp({ ...core, outbox })
  const started = { ...core, sessions, knownBrowsers, sessionStart }
  const otherServer = createOidcProvider({
    rates,
    exchange: config.oidc === null ? null : createOidcExchange(config.oidc, clock.monotonic),
    report: (reason) => log.warn({ reason }, 'a sign-in through OpenID Connect failed'),
  })
  const passkeyChallenges = createPasskeyChallenges(db, challenges, webAuthn)
  const jobs: readonly Job[] = [
    { name: 'forget ended sessions', on: 'one node', every: HOUR, run: sessions.dropEnded },
    { name: 'forget old mails', on: 'one node', every: 10 * MINUTE, run: () => dropExpiredMails(core) },
  ]
  return {
    ...createSignIn({ ...started, codeStep: createCodeStep({ ...started, challenges, codes }) }),
    oidc: createOidc(core, { sessions, knownBrowsers, sessionStart, otherServer }),
    passkeys: createPasskeys({ ...started, reauthentication, challenges: passkeyChallenges, webAuthn }),
    passwordResets: createPasswordResets({ ...core, outbox, makeLink: oneTimeLinkCreator(clock, random) }),
    reauthentication,
    secondFactor: createSecondFactor({ db, reauthentication, codes, sessionStart }),
    sessions,
    signUp,
    jobs,
  }
}

export type SignInModule = ReturnType<typeof createSignInModule>
