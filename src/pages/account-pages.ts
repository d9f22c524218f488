import { z } from '@hono/zod-openapi'
import type { AccountsModule } from '../accounts/accounts.module.ts'
import type { Authentication } from '../accounts/authentication.ts'
import { assertOpen, invalidLink, invitationNeeded, type OneTimeLinks } from '../accounts/one-time-links.ts'
import type { Onward } from '../accounts/sign-in/oidc.ts'
import { signedOut } from '../accounts/sign-in/sessions.ts'
import type { SignInStep } from '../accounts/sign-in/sign-in.ts'
import type { SignInModule } from '../accounts/sign-in.module.ts'
import { ERROR_STATUSES, Refusal } from '../domain/errors.ts'
import { errorHeaders } from '../server/answers/answers.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { readForm } from '../server/requests/body.ts'
import { withCookies } from '../server/requests/browser.ts'
import { seeOther } from './page-reader.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import type { AccountFormView } from './views.ts'

type Kind = AccountFormView['kind']

type Outcome = { readonly step: SignInStep } | { readonly next: string }

interface AccountPageNeeds {
  readonly accounts: AccountsModule
  readonly authentication: Authentication
  readonly pages: PagesModule
  readonly signIn: SignInModule
}

interface FormPage {
  readonly kind: Kind
  readonly summary: string
  readonly hasToken?: true
  readonly fields: readonly string[]
  /** Throws Refusal when submitting the form would fail. */
  readonly check?: (call: Call, modules: AccountPageNeeds) => Promise<void>
  readonly submit: (
    call: Call,
    modules: AccountPageNeeds,
    field: (name: string) => string,
  ) => Promise<Outcome>
}

/** The sign-in form says that a password was set just now. */
const PASSWORD_SET = 'password'

const tokenOf = (call: Call) => call.params.token ?? ''

async function assertWorks(
  call: Call,
  { accounts }: AccountPageNeeds,
  purpose: Parameters<OneTimeLinks['works']>[0],
): Promise<void> {
  if (!(await accounts.oneTimeLinks.works(purpose, tokenOf(call)))) throw invalidLink()
}

async function withPassword(
  call: Call,
  { signIn }: AccountPageNeeds,
  field: (name: string) => string,
): Promise<Outcome> {
  const [username, password] = [field('username'), field('password')]
  return { step: await signIn.withPassword(call, username, password, call.bucket) }
}

async function withNewPassword(
  call: Call,
  { signIn }: AccountPageNeeds,
  field: (name: string) => string,
): Promise<Outcome> {
  const { username, password } = newAccount(field)
  return { step: await signIn.withNewPassword(call, username, password) }
}

function newAccount(field: (name: string) => string) {
  return { username: field('username'), password: field('password') }
}

export const signInPage = formPages({
  kind: 'signIn',
  summary: 'sign in with user name and password',
  fields: ['username', 'password'],
  submit: withPassword,
})

export const codePage = formPages({
  kind: 'code',
  summary: 'give the code of an app',
  fields: ['code'],
  submit: async (call, { signIn }, field) => ({
    step: await signIn.withCode(call, field('code')),
  }),
})

export const signUpPage = formPages({
  kind: 'signUp',
  summary: 'make an account',
  fields: ['username', 'password'],
  async check({ site }) {
    assertOpen(site.config.signUp)
    if (site.config.signUp === 'invitation') throw invitationNeeded()
  },
  async submit(call, modules, field) {
    await modules.signIn.signUp.join(newAccount(field), null, call)
    return withNewPassword(call, modules, field)
  },
})

export const invitedPage = formPages({
  kind: 'signUp',
  hasToken: true,
  summary: 'make an account by invitation',
  fields: ['username', 'password'],
  async check(call, modules) {
    assertOpen(call.site.config.signUp)
    await assertWorks(call, modules, 'invitation')
  },
  async submit(call, modules, field) {
    await modules.signIn.signUp.join(newAccount(field), tokenOf(call), call)
    return withNewPassword(call, modules, field)
  },
})

export const welcomePage = formPages({
  kind: 'welcome',
  hasToken: true,
  summary: 'make the first administrator',
  fields: ['username', 'password'],
  check: (call, modules) => assertWorks(call, modules, 'welcome'),
  async submit(call, modules, field) {
    await modules.signIn.signUp.first(newAccount(field), tokenOf(call), call)
    return withNewPassword(call, modules, field)
  },
})

export const setPasswordPage = formPages({
  kind: 'setPassword',
  hasToken: true,
  summary: 'set the password of an account',
  fields: ['password'],
  check: (call, modules) => assertWorks(call, modules, 'password'),
  async submit(call, modules, field) {
    await modules.signIn.signUp.setPassword(tokenOf(call), field('password'))
    return { next: `/sign-in?done=${PASSWORD_SET}` }
  },
})

function formPages(form: FormPage) {
  return { show: shown(form), send: sent(form) }
}

function shown(form: FormPage) {
  return endpoint({
    documentation: { ...documented(form, 'The form to'), answers: { 200: { description: 'A page' } } },
    async handle(call, modules: AccountPageNeeds) {
      const { authentication, pages } = modules
      await authentication.pageSession(call)
      const next = nextPath(call.url.searchParams.get('next'))
      if (form.kind === 'signIn' && call.caller !== null) return seeOther(next)
      await form.check?.(call, modules)
      return formPage(call, pages, form, { next, username: '', error: null })
    },
  })
}

function sent(form: FormPage) {
  return endpoint({
    documentation: {
      ...documented(form, 'By a plain form'),
      body: {
        type: 'application/x-www-form-urlencoded',
        schema: z.object(Object.fromEntries(form.fields.map((name) => [name, z.string()]))),
      },
      answers: { 303: { description: 'Done, with the cookie; on to the next page' } },
    },
    async handle(call, modules: AccountPageNeeds) {
      const { authentication, pages } = modules
      const sentFields = await readForm(call)
      const field = (name: string) => sentFields.get(name) ?? ''
      const next = nextPath(sentFields.get('next'))
      try {
        const outcome = await form.submit(call, modules, field)
        if ('next' in outcome) return seeOther(outcome.next)
        const { step } = outcome
        if (step.next === 'code') {
          return withCookies(seeOther(`/sign-in/code?next=${encodeURIComponent(next)}`), step.cookies)
        }
        await authentication.endSession(call)
        return withCookies(seeOther(next), step.cookies)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        call.refusal = error
        return await formPage(call, pages, form, { next, username: field('username'), error })
      }
    },
  })
}

function documented(form: FormPage, how: string) {
  return {
    summary: `${how}: ${form.summary}`,
    tag: 'Site',
    errors: [400, 401, 403, 404, 409, 413, 429],
    ...(form.hasToken === true ? { params: z.object({ token: z.string() }) } : {}),
  } as const
}

interface Shown {
  readonly next: string
  readonly username: string
  readonly error: Refusal | null
}

async function formPage(
  call: Call,
  pages: PagesModule,
  form: FormPage,
  { next, username, error }: Shown,
): Promise<Response> {
  const { oidc, signUp, mail } = call.site.config
  const view: AccountFormView = {
    kind: form.kind,
    action: call.url.pathname,
    next,
    username,
    error: error === null ? null : { code: error.code, retryAfter: error.retryAfter ?? null },
    oidc:
      oidc === null ? null : { name: oidc.name, address: `/sign-in/oidc?next=${encodeURIComponent(next)}` },
    canSignUp: signUp === 'open',
    canReset: mail !== null,
    isPasswordSet: form.kind === 'signIn' && call.url.searchParams.get('done') === PASSWORD_SET,
  }
  const html = pages.render.accountForm(view, await pages.reader(call))
  if (error === null) return page(call.site, html)
  const response = page(call.site, html, ERROR_STATUSES[error.code])
  errorHeaders(error).forEach((value, name) => {
    response.headers.set(name, value)
  })
  return response
}

export const postSignOut = endpoint({
  documentation: {
    summary: 'Sign out by a plain form, and on to the start page',
    tag: 'Site',
    answers: { 303: { description: 'Signed out' } },
    errors: [403],
  },
  async handle(call, { authentication, signIn }: { authentication: Authentication; signIn: SignInModule }) {
    await authentication.endSession(call)
    return withCookies(seeOther('/'), signIn.forget())
  },
})

export const startOidc = endpoint({
  documentation: {
    summary: 'Sign in by way of the OpenID Connect server that is configured',
    tag: 'Site',
    query: z.object({
      next: z.string().optional(),
      prove: z.string().optional().openapi({
        description: '1: shows that it is still the person of the present session, which goes on',
      }),
    }),
    answers: { 303: { description: 'On to the other server' } },
    errors: [401, 403, 404, 429],
  },
  async handle(call, { authentication, signIn }: { authentication: Authentication; signIn: SignInModule }) {
    const next = nextPath(call.url.searchParams.get('next'))
    if (call.url.searchParams.get('prove') === '1') {
      const present = await authentication.pageSession(call)
      if (present === null) throw signedOut()
      return onward(await signIn.oidc.begin('/sign-in/proved', call.bucket, present))
    }
    return onward(await signIn.oidc.begin(next, call.bucket, null))
  },
})

export const finishOidc = endpoint({
  documentation: {
    summary: 'Where the OpenID Connect server sends people back to',
    tag: 'Site',
    query: z.object({ code: z.string().optional(), state: z.string().optional() }),
    answers: { 303: { description: 'Signed in, with the cookie; on to where they came from' } },
    errors: [403, 404, 429],
  },
  async handle(call, { authentication, signIn }: { authentication: Authentication; signIn: SignInModule }) {
    const present = await authentication.pageSession(call)
    const done = await signIn.oidc.finish(call, call.url.search, call.bucket, present)
    if (done.isNewSession) await authentication.endSession(call)
    return onward(done)
  },
})

function onward({ location, cookies }: Onward): Response {
  const headers = { Location: location, 'Cache-Control': 'private, no-store' }
  return withCookies(new Response(null, { status: 303, headers }), cookies)
}

/** The given path if it is on this site, else the file manager. */
export function nextPath(text: string | null): string {
  // `//` would start a host name, and browsers treat a backslash as a slash.
  return text !== null && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,500}$/.test(text) ? text : '/files'
}
