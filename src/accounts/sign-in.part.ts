import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, MINUTE } from '../domain/clock.ts'
import type { MailPart } from '../mail/mail.part.ts'
import { oneTimeLinkCreator } from './one-time-links.ts'
import { createChallenges } from './sign-in/challenges.ts'
import { createCodeStep } from './sign-in/code-step.ts'
import { createExpiredMailRemoval } from './sign-in/expired-mail-removal.job.ts'
import { createKnownBrowsers } from './sign-in/known-browsers.ts'
import { createOidc, createOidcProvider, type Oidc } from './sign-in/oidc.ts'
import { createOidcExchange } from './sign-in/oidc-exchange.ts'
import { createPasskeys, type Passkeys } from './sign-in/passkeys.ts'
import { createPasswordResets, type PasswordResets } from './sign-in/password-resets.ts'
import { createReauthentication, type Reauthentication } from './sign-in/reauthentication.ts'
import { createSecondFactor, type SecondFactor } from './sign-in/second-factor.ts'
import { createSecondFactorCodes } from './sign-in/second-factor-codes.ts'
import { createSessionStart } from './sign-in/session-start.ts'
import { createSessions, type Sessions } from './sign-in/sessions.ts'
import { createSignIn, type SignIn } from './sign-in/sign-in.ts'
import { createSignUp, type SignUpRules } from './sign-in/sign-up.ts'
import { createSubjectAccounts } from './sign-in/subject-accounts.ts'
import { createPasskeyChallenges, createWebAuthn } from './sign-in/webauthn.ts'

export interface SignInPart extends SignIn {
  readonly oidc: Oidc
  readonly passkeys: Passkeys
  readonly passwordResets: PasswordResets
  readonly reauthentication: Reauthentication
  readonly secondFactor: SecondFactor
  readonly sessions: Sessions
  readonly signUp: SignUpRules
  readonly jobs: readonly Job[]
}

/** `secret`: encrypts the secrets of authenticator apps. */
export function createSignInPart(
  core: Core,
  needs: { readonly secret: string; readonly mail: Pick<MailPart, 'outbox'> },
): SignInPart {
  const { db, clock, random, log, rates, signing, config, publicUrl } = core
  const { outbox } = needs.mail
  const beginSession = createSessionStart({ clock, random, publicUrl })
  const challenges = createChallenges({ db, clock, random, publicUrl })
  const webAuthn = createWebAuthn(publicUrl)
  const codes = createSecondFactorCodes({ clock, random, secret: needs.secret })
  const sessions = createSessions(db, clock)
  const reauthentication = createReauthentication(db, rates, clock, sessions)
  const knownBrowsers = createKnownBrowsers({ signing, clock, random, publicUrl })
  const signUp = createSignUp({ ...core, outbox, mode: config.signUp })
  const subjectAccounts = createSubjectAccounts({ db, clock, random, mode: config.signUp })
  const started = { ...core, sessions, knownBrowsers, beginSession }
  const otherServer = createOidcProvider({
    rates,
    exchange: config.oidc === null ? null : createOidcExchange(config.oidc, clock.monotonic),
    report: (reason) => log.warn({ reason }, 'a sign-in through OpenID Connect failed'),
  })
  const passkeyChallenges = createPasskeyChallenges(db, challenges, webAuthn)
  return {
    ...createSignIn({ ...started, codeStep: createCodeStep({ ...started, challenges, codes }) }),
    oidc: createOidc({ ...started, subjectAccounts, otherServer }),
    passkeys: createPasskeys({ ...started, reauthentication, challenges: passkeyChallenges, webAuthn }),
    passwordResets: createPasswordResets({ ...core, outbox, makeLink: oneTimeLinkCreator(clock, random) }),
    reauthentication,
    secondFactor: createSecondFactor({ db, reauthentication, codes, beginSession }),
    sessions,
    signUp,
    jobs: [
      { name: 'forget ended sessions', on: 'one node', every: HOUR, run: sessions.dropEnded },
      {
        name: 'forget old mails',
        on: 'one node',
        every: 10 * MINUTE,
        run: createExpiredMailRemoval(db, clock, log).run,
      },
    ],
  }
}
