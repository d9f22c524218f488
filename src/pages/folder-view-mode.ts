import { DAY } from '../domain/clock.ts'
import type { Call } from '../server/call.ts'
import { cookieValue, setCookie, withCookies } from '../server/requests/browser.ts'
import {
  addressWithoutOrder,
  askedOrder,
  DEFAULT_QUERY,
  type FolderOrder,
  type FolderQuery,
  type FolderViewMode,
  orderFromName,
  orderName,
} from './folder-query.ts'
import { seeOther } from './page-reader.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import type { FolderPageView } from './views.ts'

/** Its path is the folder's, so each folder has a view of its own. */
const COOKIE = 'folder_view'
const KEPT_FOR = 365 * DAY

/** For the sort order, in this browser session only. */
const ORDER_COOKIE = 'folder_order'
const ORDER_KEPT_FOR = DAY

export function defaultViewMode(files: readonly { readonly type: string }[]): FolderViewMode {
  const visual = files.filter(({ type }) => /^(image|video)\//.test(type)).length
  return visual * 2 > files.length ? 'gallery' : 'list'
}

export function rememberedViewMode(request: Request): FolderViewMode | null {
  const value = cookieValue(request, COOKIE)
  return value === 'list' || value === 'gallery' ? value : null
}

/** Stores a chosen view in the cookie, unless it is the default of a folder with a single page. */
export async function rememberViewMode(
  call: Call,
  pages: PagesModule,
  view: FolderPageView,
): Promise<Response> {
  const response = page(call.site, pages.render.folderPage(view, await pages.reader(call)))
  keepOrder(call, view, response)
  const asked = view.query.look
  if (asked === null || view.files.length === 0) return response
  const kept = asked === defaultViewMode(view.files) && view.pages === 1 ? null : asked
  if (kept === rememberedViewMode(call.request)) return response
  const lasts = kept === null ? 0 : KEPT_FOR
  return withFolderCookie(response, call, view.url, { name: COOKIE, value: kept ?? '', lasts })
}

export function rememberedOrder(request: Request): FolderOrder | null {
  return orderFromName(cookieValue(request, ORDER_COOKIE))
}

/** A program without cookies gets all pages in the default order, not only the first in another. */
export function rememberOrder(call: Call, url: string, query: FolderQuery): Response {
  const response = seeOther(new URL(url).pathname + addressWithoutOrder(query))
  setOrder(call, url, query, response)
  return response
}

/** With a single page, the order in the address is kept for the next visit too. */
function keepOrder(call: Call, { url, query }: FolderPageView, response: Response): void {
  const asked = askedOrder(call.url.searchParams)
  const known = rememberedOrder(call.request) ?? DEFAULT_QUERY
  if (asked !== null && orderName(asked) !== orderName(known)) setOrder(call, url, query, response)
}

function setOrder(call: Call, url: string, query: FolderOrder, response: Response): void {
  const order = { name: ORDER_COOKIE, value: orderName(query), lasts: ORDER_KEPT_FOR }
  withFolderCookie(response, call, url, order)
}

function withFolderCookie(
  response: Response,
  { site }: Call,
  url: string,
  cookie: { readonly name: string; readonly value: string; readonly lasts: number },
): Response {
  return withCookies(response, [setCookie(site, { ...cookie, path: new URL(url).pathname })])
}
