import { z } from '@hono/zod-openapi'
import type { AdminSection } from '../../web/admin/data.ts'
import type { SettingsSection } from '../../web/settings/data.ts'
import type { AccountsModule } from '../accounts/accounts.module.ts'
import type { Authentication } from '../accounts/authentication.ts'
import type { MailAddressState } from '../accounts/mail-addresses.ts'
import { Refusal } from '../domain/errors.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { seeOther } from './page-reader.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'

interface Signed {
  readonly authentication: Authentication
  readonly pages: PagesModule
}

/** The page contains no data: its script requests it, like any API client. */
async function filesPage(call: Call, { authentication, pages }: Signed): Promise<Response> {
  const { config, publicUrl } = call.site
  const isKnown =
    (await authentication.pageSession(call)) !== null || call.request.headers.has('authorization')
  if (!isKnown) return seeOther(`/sign-in?next=${encodeURIComponent(call.url.pathname)}`)
  const view = { publicUrl, maxFileSize: config.maxFileSize }
  return page(call.site, pages.render.filesPage(view, await pages.reader(call)))
}

export const getFilesPage = endpoint({
  documentation: {
    summary: 'The file manager',
    tag: 'Site',
    answers: {
      200: { description: 'A page' },
      303: { description: 'Nobody is signed in; on to where one can' },
    },
    errors: [],
  },
  handle: filesPage,
})

export const getFilesPageOf = endpoint({
  ...getFilesPage,
  documentation: {
    ...getFilesPage.documentation,
    summary: 'The file manager, at a folder',
    params: z.object({ identifier: z.string() }),
  },
})

const settingsSubjects: Readonly<Record<SettingsSection, string>> = {
  storage: 'what is stored, and how many requests were made',
  keys: 'API keys',
  webhooks: 'webhooks and what was sent to them',
  security: 'how one signs in, and where one is signed in',
  account: 'the name of the account, and its end',
}

function isSettingsSection(text: string): text is SettingsSection {
  return Object.hasOwn(settingsSubjects, text)
}

/**
 * Contains only the user name and the available sections: its script requests the rest. API keys are not
 * accepted for any of it.
 */
async function settingsPage(
  call: Call,
  {
    accounts,
    authentication,
    pages,
  }: {
    accounts: AccountsModule
    authentication: Authentication
    pages: PagesModule
  },
): Promise<Response> {
  const section = call.params.section ?? 'storage'
  if (!isSettingsSection(section)) throw new Refusal('NOT_FOUND', 'There is no such page')
  const session = await authentication.pageSession(call)
  if (session === null) return seeOther(`/sign-in?next=${encodeURIComponent(call.url.pathname)}`)
  const { publicUrl } = call.site
  const hasMail = section === 'account' && isOfUse(await accounts.mailAddresses.get(session))
  const view = { section, username: session.username, hasMail, publicUrl }
  return page(call.site, pages.render.settingsPage(view, await pages.reader(call)))
}

/** Without outgoing mail, an existing address can still be removed. */
function isOfUse({ isOn, address }: MailAddressState): boolean {
  return isOn || address !== null
}

export const getSettingsPage = endpoint({
  documentation: {
    summary: `The settings: ${settingsSubjects.storage}`,
    tag: 'Site',
    answers: {
      200: { description: 'A page' },
      303: { description: 'Nobody is signed in; on to where one can' },
    },
    errors: [404],
  },
  handle: settingsPage,
})

export const getSettingsPageOf = endpoint({
  ...getSettingsPage,
  documentation: {
    ...getSettingsPage.documentation,
    summary: 'One page of the settings',
    params: z.object({
      section: z.string().openapi({ description: Object.keys(settingsSubjects).join(', '), example: 'keys' }),
    }),
  },
})

const adminSubjects: Readonly<Record<AdminSection, string>> = {
  overview: 'how it stands, and how it went',
  accounts: 'the accounts',
  reports: 'what people report, and what was taken down',
  files: 'the newest and the largest files',
  integrity: 'how the stored bytes do, and which files are damaged',
  jobs: 'what runs by itself, and the servers',
  notice: 'what everybody is told on every page',
  appearance: "the operator's own name, logo, colour and texts",
  settings: 'the settings in force',
  doctor: 'whether the set-up is sound',
  audit: 'what administrators have done, who signed in, and where tries were locked',
}

function isAdminSection(text: string): text is AdminSection {
  return Object.hasOwn(adminSubjects, text)
}

/** The page contains no data: its script requests all of it. */
async function adminPage(
  call: Call,
  { authentication, pages }: { authentication: Authentication; pages: PagesModule },
): Promise<Response> {
  const section = call.params.section ?? 'overview'
  const session = await authentication.pageSession(call)
  const { pathname, search } = call.url
  if (session === null) return seeOther(`/sign-in?next=${encodeURIComponent(pathname + search)}`)
  if (!session.by.isAdmin) {
    throw new Refusal('ADMIN_NEEDED', 'Only administrators of this server can see this page')
  }
  if (!isAdminSection(section)) throw new Refusal('NOT_FOUND', 'There is no such page')
  const view = { section, canInvite: call.site.config.signUp !== 'closed' }
  return page(call.site, pages.render.adminPage(view, await pages.reader(call)))
}

export const getAdminPage = endpoint({
  documentation: {
    summary: `Administration: ${adminSubjects.overview}`,
    tag: 'Site',
    answers: {
      200: { description: 'A page' },
      303: { description: 'Nobody is signed in; on to where one can' },
    },
    errors: [403, 404],
  },
  handle: adminPage,
})

export const getAdminPageOf = endpoint({
  ...getAdminPage,
  documentation: {
    ...getAdminPage.documentation,
    summary: 'One page of administration',
    params: z.object({
      section: z
        .string()
        .openapi({ description: Object.keys(adminSubjects).join(', '), example: 'accounts' }),
    }),
  },
})

export const getProvedPage = endpoint({
  documentation: {
    summary: 'Says that it was shown who is there',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
    errors: [],
  },
  async handle(call, { authentication, pages }: { authentication: Authentication; pages: PagesModule }) {
    await authentication.pageSession(call)
    const nothing = { username: '', address: '', files: 0, days: 0, action: null, retryAfter: null }
    return page(call.site, pages.render.mailPage({ kind: 'proved', ...nothing }, await pages.reader(call)))
  },
})
