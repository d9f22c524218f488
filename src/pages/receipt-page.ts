import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import type { LinkEvent } from '../contract/links.ts'
import type { Receipted } from '../contract/receipts.ts'
import { DAY, optionalTime } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { wholeNumber } from '../domain/ids.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { readForm } from '../server/requests/body.ts'
import { neededPassword } from '../server/requests/fields.ts'
import { type LinkTerms, MOST_DOWNLOADS } from '../sharing/links/link-terms.ts'
import { toLinkEvent } from '../sharing/links/links.routes.ts'
import { filesOfReceipt, type ReceiptNeeds, receipted, receiptOf } from '../sharing/receipts.routes.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { seeOther } from './page-reader.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import { LINK_DAYS, RECEIPT_DONE, type ReceiptPageView } from './receipt-view.ts'

interface ReceiptPageNeeds extends ReceiptNeeds {
  readonly authentication: Pick<Authentication, 'pageSession'>
  readonly pages: PagesModule
  readonly sharing: ReceiptNeeds['sharing'] & Pick<SharingModule, 'linkNames'>
}

const documentation = {
  tag: 'Site',
  params: z.object({ receipt: z.string() }),
  errors: [400, 401, 404, 413, 429],
} as const

/** The address is a secret: keep it from other sites and search engines. */
const always = { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' } as const

const EVENTS = 50

/** Files of a transfer. */
const SHOWN = 100

/** Changes nothing: chat programs and mail scanners open every address that they find. */
export const getReceiptPage = endpoint({
  documentation: {
    ...documentation,
    summary: 'Open a receipt',
    description: 'The page of a guest’s upload, of what was sent by an upload link, or of a guest’s link.',
    query: z.object({ done: z.enum(RECEIPT_DONE).optional() }),
    answers: { 200: { description: 'A page' } },
  },
  always,
  async handle(call, modules: ReceiptPageNeeds) {
    const of = await receipted(call, modules)
    const done = call.url.searchParams.get('done')
    return shown(call, modules, of, {
      account:
        of.kind === 'upload' || of.kind === 'transfer'
          ? ((await modules.authentication.pageSession(call))?.username ?? null)
          : null,
      done: RECEIPT_DONE.find((each) => each === done) ?? null,
      log: of.kind === 'link' || of.kind === 'transfer' ? await logOf(call, modules) : [],
      sent: of.kind === 'transfer' ? await sentBy(call, modules) : null,
    })
  },
})

const receiptForm = z
  .object({
    action: z.enum(['rename', 'keep', 'claim', 'delete', 'change']),
    name: z.string().optional(),
    message: z.string().optional(),
    ends: z.enum(['kept', 'never', '1', '7', '30']).optional(),
    downloads: z.string().optional().openapi({ example: '3' }),
    password: z.string().optional(),
    open: z.string().optional().openapi({ description: 'Takes the password off', example: 'on' }),
  })
  .openapi({ example: { action: 'rename', name: 'holiday.jpg' } })

/**
 * Other sites cannot know the receipt in the address. With a receipt of their own they could put a file into
 * a user's account, so the session counts on this page's forms alone.
 */
export const postReceiptPage = endpoint({
  documentation: {
    ...documentation,
    summary: 'Change what a receipt stands for by a form',
    description:
      'Renames, keeps, claims or deletes a guest’s upload, withdraws what was sent, changes or revokes a guest’s link.',
    body: {
      type: 'application/x-www-form-urlencoded',
      schema: receiptForm,
    },
    answers: {
      200: { description: 'A page that says that it is over, or in the account' },
      303: { description: 'Done; back to the page' },
    },
  },
  always,
  async handle(call, modules: ReceiptPageNeeds) {
    const { receipts } = modules.uploads
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
      case 'change': {
        const terms = linkTermsOf(form, call.site.clock.now())
        await modules.sharing.guestLinks.change(await receipts.link(receipt), call.bucket, terms)
        return seeOther(`${pathOf(call)}?done=changed`)
      }
      case 'claim': {
        const session = await modules.authentication.pageSession(call)
        if (session === null) throw signInFirst()
        const of = await receipted(call, modules)
        const transfer = await receipts.transfer(receipt)
        if (transfer === null) await receipts.claim(receipt, { reach: session, place: 'root' })
        else await modules.sharing.transfers.claim(transfer.id, session)
        return shown(call, modules, of, { over: 'claimed' })
      }
      case 'delete': {
        const of = await receipted(call, modules)
        const transfer = await receipts.transfer(receipt)
        if (transfer === null) await receipts.redeem(receipt)
        else await modules.sharing.transfers.remove(transfer.id)
        return shown(call, modules, of, { over: 'deleted' })
      }
      default:
        throw new Refusal(
          'INVALID_REQUEST',
          'The form must say what to do: rename, keep, claim, change or delete',
        )
    }
  },
})

async function logOf(call: Call, { sharing, uploads }: ReceiptPageNeeds): Promise<LinkEvent[]> {
  const link = await uploads.receipts.link(receiptOf(call))
  const { events } = await sharing.guestLinks.log(link, 1, EVENTS)
  return events.map(toLinkEvent)
}

async function sentBy(call: Call, modules: ReceiptPageNeeds): Promise<ReceiptPageView['sent']> {
  const transfer = await modules.uploads.receipts.transfer(receiptOf(call))
  return transfer === null ? null : filesOfReceipt(call, modules, transfer, 1, SHOWN)
}

async function shown(
  call: Call,
  { files, pages }: ReceiptPageNeeds,
  of: Receipted,
  now: Partial<Pick<ReceiptPageView, 'over' | 'account' | 'done' | 'log' | 'sent'>>,
): Promise<Response> {
  const action = pathOf(call)
  const view: ReceiptPageView = {
    receipt: call.params.receipt ?? '',
    of,
    over: null,
    account: null,
    done: null,
    log: [],
    sent: null,
    ...now,
    url: call.site.publicUrl + action,
    action,
    keptUntil: optionalTime(files.inactivity.guests?.endOf(call.site.clock.now()) ?? null),
  }
  // Without a referrer browsers hide a form's origin, which is checked for signed-in users.
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

/**
 * A missing field and an empty password change nothing; other empty fields remove the term. Throws Refusal
 * INVALID_REQUEST.
 */
function linkTermsOf(form: URLSearchParams, now: number): Omit<LinkTerms, 'uploads'> {
  const [name, message, downloads] = [form.get('name'), form.get('message'), form.get('downloads')]
  return {
    ...(name === null ? {} : { name }),
    ...(message === null ? {} : { message }),
    ...(downloads === null ? {} : { maxDownloads: numberOf(downloads.trim()) }),
    ...endOf(form.get('ends') ?? 'kept', now),
    ...passwordOf(form),
  }
}

function numberOf(text: string): number | null {
  if (text === '') return null
  const number = wholeNumber(text) ?? 0
  if (number >= 1 && number <= MOST_DOWNLOADS) return number
  throw new Refusal('INVALID_REQUEST', `The number of downloads must be from 1 to ${MOST_DOWNLOADS}`)
}

function endOf(text: string, now: number): Pick<LinkTerms, 'endsAt'> {
  if (text === 'kept') return {}
  if (text === 'never') return { endsAt: null }
  const days = LINK_DAYS.find((each) => String(each) === text)
  if (days !== undefined) return { endsAt: now + days * DAY }
  throw new Refusal('INVALID_REQUEST', 'The end must be one of those that the form has')
}

function passwordOf(form: URLSearchParams): Pick<LinkTerms, 'password'> {
  const password = form.get('password') ?? ''
  if (password === '') return form.has('open') ? { password: null } : {}
  if (!neededPassword.safeParse(password).success) {
    throw new Refusal('INVALID_REQUEST', 'This password is too long')
  }
  return { password }
}
