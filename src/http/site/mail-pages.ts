import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import { readForm } from '../body.ts'
import type { Call } from '../call.ts'
import { errorHeaders, statusOf } from '../errors.ts'
import { assertOwnOrigin } from '../own-page.ts'
import type { Route } from '../route.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import type { MailPageView } from './views.ts'

/**
 * A page that asks for one thing, by GET, and does it by POST: programs that look through mails open every link, and
 * must not change anything by that.
 */
interface Asking {
  readonly path: string
  readonly summary: string
  /** What the form sends; none where the link says it all. */
  readonly fields: readonly string[]
  readonly ask: (call: Call) => Promise<Shown>
  readonly act: (call: Call, field: (name: string) => string) => Promise<Shown>
}

type Shown = Pick<MailPageView, 'kind'> & Partial<Pick<MailPageView, 'username' | 'address' | 'files'>>

const tokenOf = (call: Call) => call.params.token ?? ''

/** For who has forgotten their password. Its answer does not tell whether there is such an account. */
export const forgottenPages = pagesOf({
  path: '/sign-in/forgotten',
  summary: 'get a mail by which a forgotten password is set anew',
  fields: ['name'],
  ask: async ({ site }) => ({ kind: site.config.mail === null ? 'noMail' : 'forgotten' }),
  async act(call, field) {
    assertOwnOrigin(call)
    await call.site.services.passwordResets.request(field('name'), call.bucket)
    return { kind: 'forgottenSent' }
  },
})

export const verifyPages = pagesOf({
  path: '/verify-mail/{token}',
  summary: 'confirm the address that a mail was sent to',
  fields: [],
  ask: async (call) => ({
    kind: 'verify',
    ...(await call.site.services.mailAddresses.waiting(tokenOf(call))),
  }),
  act: async (call) => ({
    kind: 'verified',
    ...(await call.site.services.mailAddresses.verify(tokenOf(call))),
  }),
})

export const keepPages = pagesOf({
  path: '/keep/{token}',
  summary: 'keep the files that a mail tells of',
  fields: [],
  async ask(call) {
    const warned = await call.site.services.fileWarnings.look(tokenOf(call))
    return { kind: warned.files === 0 ? 'nothingToKeep' : 'keep', ...warned }
  },
  async act(call) {
    await call.site.services.fileWarnings.keep(tokenOf(call))
    return { kind: 'kept' }
  },
})

/** RFC 8058: mail programs send the form by themselves, from wherever they are. */
export const unsubscribePages = pagesOf({
  path: '/unsubscribe/{token}',
  summary: 'get no more mails about files that go',
  fields: [],
  ask: async (call) => ({
    kind: 'unsubscribe',
    ...(await call.site.services.warningEnd.look(tokenOf(call))),
  }),
  async act(call) {
    const { warningEnd } = call.site.services
    const whose = await warningEnd.look(tokenOf(call))
    await warningEnd.end(tokenOf(call))
    return { kind: 'unsubscribed', ...whose }
  },
})

function pagesOf(asking: Asking): readonly Route[] {
  const { path, summary, fields } = asking
  const documented = {
    tag: 'Site',
    errors: [400, 403, 404, 409, 413, 429],
    ...(path.includes('{') ? { params: z.object({ token: z.string() }) } : {}),
  } as const
  return [
    {
      method: 'get',
      path,
      auth: 'none',
      documentation: {
        ...documented,
        summary: `The form to ${summary}`,
        answers: { 200: { description: 'A page' } },
      },
      async handle(call) {
        return shown(call, asking, await asking.ask(call), null)
      },
    },
    {
      method: 'post',
      path,
      auth: 'none',
      documentation: {
        ...documented,
        summary: `By a plain form: ${summary}`,
        body: {
          type: 'application/x-www-form-urlencoded',
          schema: z.object(Object.fromEntries(fields.map((name) => [name, z.string()]))),
        },
        answers: { 200: { description: 'A page that says that it is done' } },
      },
      async handle(call) {
        const sent = await readForm(call)
        try {
          const outcome = await asking.act(call, (name) => sent.get(name) ?? '')
          return await shown(call, asking, outcome, null)
        } catch (error) {
          if (!(error instanceof Refusal) || error.code !== 'RATE_LIMITED') throw error
          return shown(call, asking, await asking.ask(call), error)
        }
      },
    },
  ]
}

const ASKS: readonly MailPageView['kind'][] = ['forgotten', 'verify', 'keep', 'unsubscribe']

async function shown(call: Call, { path }: Asking, view: Shown, refusal: Refusal | null): Promise<Response> {
  const html = call.site.pages.mailPage(
    {
      username: '',
      address: '',
      files: 0,
      ...view,
      days: call.site.config.inactiveDays,
      action: ASKS.includes(view.kind) ? path.replace('{token}', tokenOf(call)) : null,
      retryAfter: refusal?.retryAfter ?? null,
    },
    await pageReader(call),
  )
  const response = page(call.site, html, refusal === null ? 200 : statusOf(refusal.code))
  if (refusal !== null) {
    errorHeaders(refusal).forEach((value, name) => {
      response.headers.set(name, value)
    })
  }
  return response
}
