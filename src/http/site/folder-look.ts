import { DAY } from '../../domain/clock.ts'
import type { Call } from '../call.ts'
import { cookieValue, setCookie } from '../cookies.ts'
import type { FolderLook } from './folder-query.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import type { FolderPageView } from './views.ts'

/** Kept for each folder by itself, by its path: a list of pictures says nothing about other folders. */
const COOKIE = 'folder_view'
const KEPT_FOR = (365 * DAY) / 1000

/** How files are shown when nobody has said anything: most are pictures or video, or not. */
export function ownLook(files: readonly { readonly type: string }[]): FolderLook {
  const visual = files.filter(({ type }) => /^(image|video)\//.test(type)).length
  return visual * 2 > files.length ? 'gallery' : 'list'
}

/** What this browser has asked for before. */
export function rememberedLook(request: Request): FolderLook | null {
  const value = cookieValue(request, COOKIE)
  return value === 'list' || value === 'gallery' ? value : null
}

/** The page; the browser keeps a look that was asked for, unless the folder has it by itself on its only page. */
export async function rememberingLook(call: Call, view: FolderPageView): Promise<Response> {
  const response = page(call.site, call.site.pages.folderPage(view, await pageReader(call)))
  const asked = view.query.look
  if (asked === null || view.files.length === 0) return response
  const kept = asked === ownLook(view.files) && view.pages === 1 ? null : asked
  if (kept === rememberedLook(call.request)) return response
  const secure = call.site.publicUrl.startsWith('https:')
  const path = new URL(view.url).pathname
  response.headers.append(
    'Set-Cookie',
    setCookie(COOKIE, kept ?? '', kept === null ? 0 : KEPT_FOR, secure, path),
  )
  return response
}
