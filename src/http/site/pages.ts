import type { Refusal } from '../../domain/errors.ts'
import type { Call, Site } from '../call.ts'
import { errorHeaders, errorResponse, statusOf } from '../errors.ts'
import { contentOrigins } from './content-origins.ts'
import { outageReader, pageReader } from './page-reader.ts'

/** A page of the site. What runs in it is ours alone, and nothing is loaded from elsewhere but content. */
export function page(site: Site, html: string, status = 200): Response {
  // Named besides 'self', because the page may have been opened at another address of this server.
  const content = ["'self'", ...contentOrigins(site)].join(' ')
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // Mantine's components carry their variables in attributes.
    "style-src-attr 'unsafe-inline'",
    `img-src ${content}`,
    `media-src ${content}`,
    `connect-src ${content}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    // The button that saves a file is a form, which a redirect leads on to the content.
    `form-action ${content}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return new Response(html, {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(html)),
      'Content-Security-Policy': policy.join('; '),
      'Cache-Control': 'private, no-store',
      Vary: 'Accept-Language',
      'Referrer-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
    },
  })
}

/** Whether the caller is a browser that shows pages, rather than a program that reads JSON. */
export function wantsPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html')
}

/** The error as a page for people, as JSON for programs. */
export async function siteError(call: Call, refusal: Refusal): Promise<Response> {
  if (!wantsPage(call.request)) return errorResponse(refusal)
  const status = statusOf(refusal.code)
  const html = call.site.pages.errorPage(
    { status, code: refusal.code, retryAfter: refusal.retryAfter ?? null, path: pathOf(call) },
    status >= 500 ? outageReader(call) : await pageReader(call),
  )
  const response = page(call.site, html, status)
  errorHeaders(refusal).forEach((value, name) => {
    response.headers.set(name, value)
  })
  return response
}

/** What to ask for again: the same, or the start page after what was no question. */
function pathOf({ request, url }: Call): string {
  if (request.method !== 'GET' && request.method !== 'HEAD') return '/'
  // Two slashes would lead to another host.
  return url.pathname.replace(/^\/+/, '/') + url.search
}
