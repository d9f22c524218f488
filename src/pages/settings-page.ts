import { z } from '@hono/zod-openapi'
import type { SettingsSection } from '../../web/settings/data.ts'
import type { AccountsPart } from '../accounts/accounts.part.ts'
import type { MailAddressState } from '../accounts/mail-addresses.ts'
import { Refusal } from '../domain/errors.ts'
import type { Authentication } from '../server/authentication.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'
import { seeOther } from './see-other.ts'

const subjects: Readonly<Record<SettingsSection, string>> = {
  storage: 'what is stored, and how many requests were made',
  keys: 'API keys',
  webhooks: 'webhooks and what was sent to them',
  security: 'how one signs in, and where one is signed in',
  account: 'the name of the account, and its end',
}

function isSection(text: string): text is SettingsSection {
  return Object.hasOwn(subjects, text)
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
    accounts: AccountsPart
    authentication: Authentication
    pages: PagesPart
  },
): Promise<Response> {
  const section = call.params.section ?? 'storage'
  if (!isSection(section)) throw new Refusal('NOT_FOUND', 'There is no such page')
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
    summary: `The settings: ${subjects.storage}`,
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
      section: z.string().openapi({ description: Object.keys(subjects).join(', '), example: 'keys' }),
    }),
  },
})
