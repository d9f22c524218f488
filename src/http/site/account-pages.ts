import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import type { OneTimeLinks } from '../../services/one-time-links.ts'
import { assertOpen, invalidLink, invitationNeeded } from '../../services/one-time-links.ts'
import type { SignInStep } from '../../services/sign-in.ts'
import { readForm } from '../body.ts'
import type { Call } from '../call.ts'
import { errorHeaders, statusOf } from '../errors.ts'
import { assertOwnOrigin } from '../own-page.ts'
import type { Route } from '../route.ts'
import { browserOf, endPresentSession, pageSession, withCookies } from '../session.ts'
import { nextPath } from './next-path.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import { seeOther } from './see-other.ts'
import type { AccountFormView } from './views.ts'

type Kind = AccountFormView['kind']

/** What a form has to say when it is sent: where to go on, or the next form. */
type Outcome = { readonly step: SignInStep } | { readonly next: string }

interface FormPage {
  readonly kind: Kind
  readonly path: string
  readonly summary: string
  readonly fields: readonly string[]
  /** Looked at before the form is shown. Throws Refusal when it would be of no use. */
  readonly check?: (call: Call) => Promise<void>
  readonly submit: (call: Call, field: (name: string) => string) => Promise<Outcome>
}

const tokenOf = (call: Call) => call.params.token ?? ''

async function assertWorks(call: Call, purpose: Parameters<OneTimeLinks['works']>[0]): Promise<void> {
  if (!(await call.site.services.oneTimeLinks.works(purpose, tokenOf(call)))) throw invalidLink()
}

async function withPassword(call: Call, field: (name: string) => string): Promise<Outcome> {
  const { signIn } = call.site.services
  const [username, password] = [field('username'), field('password')]
  return { step: await signIn.withPassword(browserOf(call), username, password, call.bucket) }
}

async function withNewPassword(call: Call, field: (name: string) => string): Promise<Outcome> {
  const { username, password } = newAccount(field)
  return { step: await call.site.services.signIn.withNewPassword(browserOf(call), username, password) }
}

function newAccount(field: (name: string) => string) {
  return { username: field('username'), password: field('password') }
}

const forms: readonly FormPage[] = [
  {
    kind: 'signIn',
    path: '/sign-in',
    summary: 'sign in with user name and password',
    fields: ['username', 'password'],
    submit: withPassword,
  },
  {
    kind: 'code',
    path: '/sign-in/code',
    summary: 'give the code of an app',
    fields: ['code'],
    submit: async (call, field) => ({
      step: await call.site.services.signIn.withCode(browserOf(call), field('code')),
    }),
  },
  {
    kind: 'signUp',
    path: '/sign-up',
    summary: 'make an account',
    fields: ['username', 'password'],
    async check({ site }) {
      assertOpen(site.config.signUp)
      if (site.config.signUp === 'invitation') throw invitationNeeded()
    },
    async submit(call, field) {
      await call.site.services.signUp.join(newAccount(field), null, call)
      return withNewPassword(call, field)
    },
  },
  {
    kind: 'signUp',
    path: '/sign-up/{token}',
    summary: 'make an account by invitation',
    fields: ['username', 'password'],
    async check(call) {
      assertOpen(call.site.config.signUp)
      await assertWorks(call, 'invitation')
    },
    async submit(call, field) {
      await call.site.services.signUp.join(newAccount(field), tokenOf(call), call)
      return withNewPassword(call, field)
    },
  },
  {
    kind: 'welcome',
    path: '/welcome/{token}',
    summary: 'make the first administrator',
    fields: ['username', 'password'],
    check: (call) => assertWorks(call, 'welcome'),
    async submit(call, field) {
      await call.site.services.signUp.first(newAccount(field), tokenOf(call), call)
      return withNewPassword(call, field)
    },
  },
  {
    kind: 'setPassword',
    path: '/set-password/{token}',
    summary: 'set the password of an account',
    fields: ['password'],
    check: (call) => assertWorks(call, 'password'),
    async submit(call, field) {
      await call.site.services.signUp.setPassword(tokenOf(call), field('password'))
      return { next: '/sign-in' }
    },
  },
]

/** The pages around signing in: each form is shown at the path it is sent to. */
export const accountPages: readonly Route[] = forms.flatMap((form) => [shown(form), sent(form)])

function shown(form: FormPage): Route {
  return {
    method: 'get',
    path: form.path,
    auth: 'none',
    documentation: { ...documented(form, 'The form to'), answers: { 200: { description: 'A page' } } },
    async handle(call) {
      await pageSession(call)
      const next = nextPath(call.url.searchParams.get('next'))
      if (form.kind === 'signIn' && call.caller !== null) return seeOther(next)
      await form.check?.(call)
      return formPage(call, form, { next, username: '', error: null })
    },
  }
}

function sent(form: FormPage): Route {
  return {
    method: 'post',
    path: form.path,
    auth: 'none',
    documentation: {
      ...documented(form, 'By a plain form'),
      body: {
        type: 'application/x-www-form-urlencoded',
        schema: z.object(Object.fromEntries(form.fields.map((name) => [name, z.string()]))),
      },
      answers: { 303: { description: 'Done, with the cookie; on to the next page' } },
    },
    async handle(call) {
      assertOwnOrigin(call)
      const sentFields = await readForm(call)
      const field = (name: string) => sentFields.get(name) ?? ''
      const next = nextPath(sentFields.get('next'))
      try {
        const outcome = await form.submit(call, field)
        if ('next' in outcome) return seeOther(outcome.next)
        const { step } = outcome
        if (step.next === 'code') {
          return withCookies(seeOther(`/sign-in/code?next=${encodeURIComponent(next)}`), step.cookies)
        }
        await endPresentSession(call)
        return withCookies(seeOther(next), step.cookies)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return await formPage(call, form, { next, username: field('username'), error })
      }
    },
  }
}

function documented(form: FormPage, how: string) {
  return {
    summary: `${how}: ${form.summary}`,
    tag: 'Site',
    errors: [400, 401, 403, 404, 409, 413, 429],
    ...(form.path.includes('{') ? { params: z.object({ token: z.string() }) } : {}),
  } as const
}

interface Shown {
  readonly next: string
  readonly username: string
  readonly error: Refusal | null
}

async function formPage(call: Call, form: FormPage, { next, username, error }: Shown): Promise<Response> {
  const { oidc, signUp, mail } = call.site.config
  const view: AccountFormView = {
    kind: form.kind,
    action: form.path.replace('{token}', tokenOf(call)),
    next,
    username,
    error: error === null ? null : { code: error.code, retryAfter: error.retryAfter ?? null },
    oidc:
      oidc === null ? null : { name: oidc.name, address: `/sign-in/oidc?next=${encodeURIComponent(next)}` },
    canSignUp: signUp === 'open',
    canReset: mail !== null,
  }
  const html = call.site.pages.accountForm(view, await pageReader(call))
  if (error === null) return page(call.site, html)
  const response = page(call.site, html, statusOf(error.code))
  errorHeaders(error).forEach((value, name) => {
    response.headers.set(name, value)
  })
  return response
}

export const postSignOut: Route = {
  method: 'post',
  path: '/sign-out',
  auth: 'none',
  documentation: {
    summary: 'Sign out by a plain form, and on to the start page',
    tag: 'Site',
    answers: { 303: { description: 'Signed out' } },
    errors: [403],
  },
  async handle(call) {
    assertOwnOrigin(call)
    await endPresentSession(call)
    return withCookies(seeOther('/'), call.site.services.signIn.forget())
  },
}
