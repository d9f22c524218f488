import { z } from '@hono/zod-openapi'
import type { AccountsModule } from '../accounts/accounts.module.ts'
import type { SignInModule } from '../accounts/sign-in.module.ts'
import { ERROR_STATUSES, Refusal } from '../domain/errors.ts'
import { errorHeaders } from '../server/answers/answers.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { readForm } from '../server/requests/body.ts'
import { assertOwnOrigin } from '../server/requests/browser.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import type { MailPageView } from './views.ts'

interface MailPageNeeds {
  readonly accounts: AccountsModule
  readonly pages: PagesModule
  readonly signIn: SignInModule
}

/** GET asks for confirmation, POST acts: mail scanners open every link and must not change anything. */
interface Asking {
  readonly summary: string
  readonly hasToken?: true
  readonly fields: readonly string[]
  readonly ask: (call: Call, modules: MailPageNeeds) => Promise<Shown>
  readonly act: (call: Call, modules: MailPageNeeds, field: (name: string) => string) => Promise<Shown>
}

type Shown = Pick<MailPageView, 'kind'> &
  Partial<Pick<MailPageView, 'username' | 'address' | 'files' | 'days'>>

const tokenOf = (call: Call) => call.params.token ?? ''

/** Does not reveal whether the account exists. */
export const forgottenPages = pagesOf({
  summary: 'get a mail that sets a forgotten password',
  fields: ['name'],
  ask: async ({ site }) => ({ kind: site.config.mail === null ? 'noMail' : 'forgotten' }),
  async act(call, { signIn }, field) {
    assertOwnOrigin(call)
    await signIn.passwordResets.request(field('name'), call.bucket)
    return { kind: 'forgottenSent' }
  },
})

export const verifyPages = pagesOf({
  hasToken: true,
  summary: 'confirm the address that a mail was sent to',
  fields: [],
  ask: async (call, { accounts }) => ({
    kind: 'verify',
    ...(await accounts.mailAddresses.waiting(tokenOf(call))),
  }),
  act: async (call, { accounts }) => ({
    kind: 'verified',
    ...(await accounts.mailAddresses.verify(tokenOf(call))),
  }),
})

export const keepPages = pagesOf({
  hasToken: true,
  summary: 'keep the files that a mail tells of',
  fields: [],
  async ask(call, { accounts }) {
    const warned = await accounts.warnedFiles.look(tokenOf(call))
    if (warned.days === null) return { kind: 'staying' }
    return { ...warned, kind: warned.files === 0 ? 'nothingToKeep' : 'keep', days: warned.days }
  },
  async act(call, { accounts }) {
    await accounts.warnedFiles.keep(tokenOf(call))
    const { days } = await accounts.warnedFiles.look(tokenOf(call))
    return days === null ? { kind: 'staying' } : { kind: 'kept', days }
  },
})

/** Mail programs submit this form themselves, without an origin (RFC 8058). */
export const unsubscribePages = pagesOf({
  hasToken: true,
  summary: 'get no more mails about files that go',
  fields: [],
  ask: async (call, { accounts }) => ({
    kind: 'unsubscribe',
    ...(await accounts.warningEnd.look(tokenOf(call))),
  }),
  async act(call, { accounts }) {
    const whose = await accounts.warningEnd.look(tokenOf(call))
    await accounts.warningEnd.end(tokenOf(call))
    return { kind: 'unsubscribed', ...whose }
  },
})

function pagesOf(asking: Asking) {
  const { summary, fields, hasToken } = asking
  const documented = {
    tag: 'Site',
    errors: [400, 403, 404, 409, 413, 429],
    ...(hasToken === true ? { params: z.object({ token: z.string() }) } : {}),
  } as const
  return {
    show: endpoint({
      documentation: {
        ...documented,
        summary: `The form to ${summary}`,
        answers: { 200: { description: 'A page' } },
      },
      async handle(call, modules: MailPageNeeds) {
        return shown(call, modules, await asking.ask(call, modules), null)
      },
    }),
    send: endpoint({
      documentation: {
        ...documented,
        summary: `By a plain form: ${summary}`,
        body: {
          type: 'application/x-www-form-urlencoded',
          schema: z.object(Object.fromEntries(fields.map((name) => [name, z.string()]))),
        },
        answers: { 200: { description: 'A page that says that it is done' } },
      },
      async handle(call, modules: MailPageNeeds) {
        const sent = await readForm(call)
        try {
          const outcome = await asking.act(call, modules, (name) => sent.get(name) ?? '')
          return await shown(call, modules, outcome, null)
        } catch (error) {
          if (!(error instanceof Refusal) || error.code !== 'RATE_LIMITED') throw error
          return shown(call, modules, await asking.ask(call, modules), error)
        }
      },
    }),
  }
}

const ASKS: readonly MailPageView['kind'][] = ['forgotten', 'verify', 'keep', 'unsubscribe']

async function shown(
  call: Call,
  modules: MailPageNeeds,
  view: Shown,
  refusal: Refusal | null,
): Promise<Response> {
  const html = modules.pages.render.mailPage(
    {
      username: '',
      address: '',
      files: 0,
      days: 0,
      ...view,
      action: ASKS.includes(view.kind) ? call.url.pathname : null,
      retryAfter: refusal?.retryAfter ?? null,
    },
    await modules.pages.reader(call),
  )
  const response = page(call.site, html, refusal === null ? 200 : ERROR_STATUSES[refusal.code])
  if (refusal !== null) {
    errorHeaders(refusal).forEach((value, name) => {
      response.headers.set(name, value)
    })
  }
  return response
}
