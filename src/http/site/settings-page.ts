import { z } from '@hono/zod-openapi'
import type { Section } from '../../../web/settings/data.ts'
import { Refusal } from '../../domain/errors.ts'
import type { MailSettings } from '../../services/mail-addresses.ts'
import type { Call } from '../call.ts'
import { aliasOf, type Route } from '../route.ts'
import { pageSession } from '../session.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import { seeOther } from './see-other.ts'

/** What each page is about. */
const subjects: Readonly<Record<Section, string>> = {
  storage: 'what is stored, and how many requests were made',
  keys: 'API keys',
  security: 'how one signs in, and where one is signed in',
  account: 'the name of the account, and its end',
}

function isSection(text: string): text is Section {
  return Object.hasOwn(subjects, text)
}

/**
 * The page holds the name and which parts it has, so that none goes when answers come: its script asks for all else.
 * What it is about no API key may do.
 */
async function settingsPage(call: Call): Promise<Response> {
  const section = call.params.section ?? 'storage'
  if (!isSection(section)) throw new Refusal('NOT_FOUND', 'There is no such page')
  const session = await pageSession(call)
  if (session === null) return seeOther(`/sign-in?next=${encodeURIComponent(call.url.pathname)}`)
  const { publicUrl, pages, services } = call.site
  const hasMail = section === 'account' && isOfUse(await services.mailAddresses.get(session))
  const view = { section, username: session.username, hasMail, publicUrl }
  return page(call.site, pages.settingsPage(view, await pageReader(call)))
}

/** Where no mail is sent, an address that is there can still be removed. */
function isOfUse({ isOn, address }: MailSettings): boolean {
  return isOn || address !== null
}

export const getSettingsPage: Route = {
  method: 'get',
  path: '/settings',
  auth: 'none',
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
}

export const getSettingsPageOf: Route = {
  ...aliasOf(getSettingsPage, '/settings/{section}'),
  documentation: {
    ...getSettingsPage.documentation,
    summary: 'One page of the settings',
    params: z.object({
      section: z.string().openapi({ description: Object.keys(subjects).join(', '), example: 'keys' }),
    }),
  },
}
