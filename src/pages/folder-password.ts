import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { ERROR_STATUSES, Refusal } from '../domain/errors.ts'
import { type FolderIdentifier, parseFolderIdentifier } from '../domain/ids.ts'
import { errorHeaders } from '../server/answers/answers.ts'
import { type Call, FOLDER_COOKIE } from '../server/call.ts'
import { type Documentation, endpoint } from '../server/endpoint.ts'
import { readForm } from '../server/requests/body.ts'
import { cookieValue, setCookie, withCookies } from '../server/requests/browser.ts'
import type { LockedFolder } from '../sharing/access.ts'
import { type ClosedLock, type Lock, UNLOCKED_FOR } from '../sharing/folder-passwords.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { seeOther } from './page-reader.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import type { PasswordPageView } from './views.ts'

export interface LockedPage {
  readonly lock: Lock
  readonly action: string
}

export function lockedFolderPage({ id, identifier }: LockedFolder): LockedPage {
  return { lock: { folder: id }, action: `/f/${identifier}` }
}

/** Reveals nothing about the content. */
export async function passwordForm(
  call: Call,
  { pages, sharing }: { pages: PagesModule; sharing: Pick<SharingModule, 'folderPasswords'> },
  { lock, action }: LockedPage,
  next: string,
  error: Refusal | null,
): Promise<Response> {
  const view: PasswordPageView = {
    action,
    nonce: sharing.folderPasswords.nonce(lock),
    next,
    error: error === null ? null : { code: error.code, retryAfter: error.retryAfter ?? null },
  }
  const html = pages.render.passwordPage(view, await pages.reader(call))
  const response = page(call.site, html, statusOfForm(error))
  if (error?.retryAfter !== undefined) {
    response.headers.set('Retry-After', errorHeaders(error).get('Retry-After') ?? '')
  }
  return response
}

/** 200 for a wrong password: programs look for the form, and some give up at any other status. */
function statusOfForm(error: Refusal | null): number {
  return error === null || error.code === 'WRONG_PASSWORD' ? 200 : ERROR_STATUSES[error.code]
}

export const ofPasswordForm = {
  tag: 'Site',
  body: {
    type: 'application/x-www-form-urlencoded',
    schema: z.object({ password: z.string(), next: z.string().optional() }),
  },
  answers: {
    200: { description: 'The form again: the password is wrong' },
    303: { description: 'Unlocked, with the cookie; on to the page' },
  },
  errors: [400, 404, 413, 429],
} satisfies Partial<Documentation>

export const postFolderPassword = endpoint({
  documentation: {
    summary: 'Unlock a folder by its password',
    params: z.object({ identifier: z.string() }),
    ...ofPasswordForm,
  },
  async handle(
    call,
    {
      authentication,
      pages,
      sharing,
    }: { authentication: Authentication; pages: PagesModule; sharing: SharingModule },
  ) {
    const identifier = parseFolderIdentifier(call.params.identifier)
    const seen = await sharing.access.folder(authentication.requester(call), identifier)
    const form = await readForm(call)
    const next = nextPath(form.get('next'), identifier)
    const hash = seen.kind === 'open' ? null : seen.folder.password_hash
    if (seen.kind === 'open' || hash === null) return seeOther(next)
    const tag = sharing.access.passwordTag(seen.folder.id, hash)
    const closed = { lock: { folder: seen.folder.id }, tag, hash }
    const { action } = lockedFolderPage(seen.folder)
    return unlocking(call, { pages, sharing }, { closed, action, next, password: form.get('password') ?? '' })
  },
})

export async function unlocking(
  call: Call,
  modules: { pages: PagesModule; sharing: Pick<SharingModule, 'folderPasswords'> },
  {
    closed,
    action,
    next,
    password,
  }: {
    readonly closed: ClosedLock
    readonly action: string
    readonly next: string
    readonly password: string
  },
): Promise<Response> {
  const cookie = cookieValue(call.request, FOLDER_COOKIE)
  try {
    const value = await modules.sharing.folderPasswords.unlock(closed, password, call.bucket, cookie)
    const unlocked = setCookie(call.site, { name: FOLDER_COOKIE, value, lasts: UNLOCKED_FOR })
    return withCookies(seeOther(next), [unlocked])
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    call.refusal = error
    return passwordForm(call, modules, { lock: closed.lock, action }, next, error)
  }
}

/** Restricts the redirect to file and folder pages of this site. */
function nextPath(text: string | null, identifier: FolderIdentifier): string {
  return text !== null && /^\/[df]\/[A-Za-z0-9]+$/.test(text) ? text : `/f/${identifier}`
}
