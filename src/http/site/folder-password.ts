import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import type { FolderIdentifier } from '../../domain/ids.ts'
import type { LockedFolder } from '../../services/access.ts'
import { UNLOCKED_FOR } from '../../services/folder-passwords.ts'
import { readForm } from '../body.ts'
import { askerOf, type Call, FOLDER_COOKIE } from '../call.ts'
import { cookieValue, setCookie } from '../cookies.ts'
import { errorHeaders, statusOf } from '../errors.ts'
import type { Route } from '../route.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import type { PasswordPageView } from './views.ts'

/** The form for the password of a locked folder; says nothing about what is behind it. */
export async function passwordForm(
  call: Call,
  folder: LockedFolder,
  next: string,
  error: Refusal | null,
): Promise<Response> {
  const view: PasswordPageView = {
    action: `/f/${folder.identifier}`,
    nonce: call.site.services.folderPasswords.nonce(folder.id),
    next,
    error: error === null ? null : { code: error.code, retryAfter: error.retryAfter ?? null },
  }
  const html = call.site.pages.passwordPage(view, await pageReader(call))
  const response = page(call.site, html, statusOfForm(error))
  if (error?.retryAfter !== undefined) {
    response.headers.set('Retry-After', errorHeaders(error).get('Retry-After') ?? '')
  }
  return response
}

/** The form again is no failure of the page: programs go by the form, and some give up at any other status. */
function statusOfForm(error: Refusal | null): number {
  return error === null || error.code === 'WRONG_PASSWORD' ? 200 : statusOf(error.code)
}

export const postFolderPassword: Route = {
  method: 'post',
  path: '/f/{identifier}',
  auth: 'none',
  documentation: {
    summary: 'Give the password of a folder',
    tag: 'Site',
    params: z.object({ identifier: z.string() }),
    body: {
      type: 'application/x-www-form-urlencoded',
      schema: z.object({ password: z.string(), next: z.string().optional() }),
    },
    answers: {
      200: { description: 'The form again: the password is wrong' },
      303: { description: 'Unlocked, with the cookie; on to the page' },
    },
    errors: [400, 404, 413, 429],
  },
  async handle(call) {
    const { access, folderPasswords } = call.site.services
    const identifier = (call.params.identifier ?? '') as FolderIdentifier
    const seen = await access.folder(await askerOf(call), identifier)
    const form = await readForm(call)
    const next = nextPath(form.get('next'), identifier)
    if (seen.kind === 'open') return seeOther(next)
    const cookie = cookieValue(call.request, FOLDER_COOKIE)
    try {
      const value = await folderPasswords.unlock(seen.folder, form.get('password') ?? '', call.bucket, cookie)
      const response = seeOther(next)
      const secure = call.site.publicUrl.startsWith('https:')
      response.headers.append('Set-Cookie', setCookie(FOLDER_COOKIE, value, UNLOCKED_FOR / 1000, secure))
      return response
    } catch (error) {
      if (error instanceof Refusal) return await passwordForm(call, seen.folder, next, error)
      throw error
    }
  },
}

/** Only ever a page of this site. */
function nextPath(text: string | null, identifier: FolderIdentifier): string {
  return text !== null && /^\/[df]\/[A-Za-z0-9]+$/.test(text) ? text : `/f/${identifier}`
}

function seeOther(location: string): Response {
  return new Response(null, {
    status: 303,
    headers: { Location: location, 'Cache-Control': 'private, no-store' },
  })
}
