import { z } from '@hono/zod-openapi'
import { timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { fileUrl } from '../files/file-answers.ts'
import type { Authentication } from '../server/authentication.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { readForm } from '../server/requests/body.ts'
import { type ReceiptNeeds, receiptOf, toReceiptUpload } from '../uploads/receipts/receipts.routes.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'
import type { ReceiptPageView } from './receipt-view.ts'
import { seeOther } from './see-other.ts'

interface ReceiptPageNeeds extends ReceiptNeeds {
  readonly authentication: Pick<Authentication, 'pageSession'>
  readonly pages: PagesPart
  readonly files: ReceiptNeeds['files']
}

const documentation = {
  tag: 'Site',
  params: z.object({ receipt: z.string() }),
  errors: [400, 401, 404, 413, 429],
} as const

/** The address holds a secret: no other site is told it, and no search engine keeps it. */
const always = { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' } as const

/** Changes nothing: chat programs and scanners of mails open every address that they find. */
export const getReceiptPage = endpoint({
  documentation: {
    ...documentation,
    summary: 'The page of a guest’s upload, for whoever has its receipt',
    query: z.object({ done: z.enum(['renamed', 'kept']).optional() }),
    answers: { 200: { description: 'A page' } },
  },
  always,
  async handle(call, parts: ReceiptPageNeeds) {
    const received = await parts.uploads.receipts.look(receiptOf(call))
    const done = call.url.searchParams.get('done')
    return shown(call, parts, {
      upload: toReceiptUpload(call, parts, received),
      account: (await parts.authentication.pageSession(call))?.username ?? null,
      done: done === 'renamed' || done === 'kept' ? done : null,
    })
  },
})

/**
 * The receipt in the address is what other sites cannot know, so a form of theirs can do nothing; with one of their own they
 * could put a file into somebody's account, so the session counts on forms of this page alone.
 */
export const postReceiptPage = endpoint({
  documentation: {
    ...documentation,
    summary: 'Rename, keep, claim or delete a guest’s upload by the forms of its page',
    body: {
      type: 'application/x-www-form-urlencoded',
      schema: z.object({
        action: z.enum(['rename', 'keep', 'claim', 'delete']),
        name: z.string().optional(),
      }),
    },
    answers: {
      200: { description: 'A page that says that it is deleted, or in the account' },
      303: { description: 'Done; back to the page' },
    },
  },
  always,
  async handle(call, parts: ReceiptPageNeeds) {
    const { receipts } = parts.uploads
    const receipt = receiptOf(call)
    const form = await readForm(call)
    switch (form.get('action')) {
      case 'rename': {
        const name = form.get('name')?.trim() ?? ''
        if (name === '') throw new Refusal('INVALID_REQUEST', 'Give the file a name')
        await receipts.rename(receipt, name)
        return seeOther(`${pathOf(call)}?done=renamed`)
      }
      case 'keep':
        await receipts.keep(receipt)
        return seeOther(`${pathOf(call)}?done=kept`)
      case 'claim': {
        const session = await parts.authentication.pageSession(call)
        if (session === null) throw signInFirst()
        const { slug } = await receipts.claim(receipt, { reach: session, place: 'root' })
        return shown(call, parts, { over: { kind: 'claimed', url: fileUrl(call.site, slug) } })
      }
      case 'delete':
        await receipts.redeem(receipt)
        return shown(call, parts, { over: { kind: 'deleted' } })
      default:
        throw new Refusal('INVALID_REQUEST', 'The form must say what to do: rename, keep, claim or delete')
    }
  },
})

async function shown(
  call: Call,
  { files, pages }: ReceiptPageNeeds,
  now: Partial<Pick<ReceiptPageView, 'upload' | 'over' | 'account' | 'done'>>,
): Promise<Response> {
  const action = pathOf(call)
  const view: ReceiptPageView = {
    receipt: call.params.receipt ?? '',
    upload: null,
    over: null,
    account: null,
    done: null,
    ...now,
    url: call.site.publicUrl + action,
    action,
    keptUntil: timestamp(files.lifetime.endOf(call.site.clock.now())),
  }
  // Without a referrer browsers hide where a form comes from, which is asked for where somebody is signed in.
  if (view.account !== null) call.headers.set('Referrer-Policy', 'same-origin')
  return page(call.site, pages.render.receiptPage(view, await pages.reader(call)))
}

function pathOf(call: Call): string {
  return `/r/${encodeURIComponent(call.params.receipt ?? '')}`
}

function signInFirst(): Refusal {
  return new Refusal(
    'NOT_SIGNED_IN',
    'Sign in first: the file goes into the account that you are signed in to',
  )
}
