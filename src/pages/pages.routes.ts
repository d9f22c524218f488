import type { S3Config } from '../config.ts'
import { ERROR_STATUSES, type Refusal } from '../domain/errors.ts'
import { errorHeaders, errorResponse } from '../server/answers/answers.ts'
import type { Call, Site } from '../server/call.ts'
import type { PageReaders } from './page-reader.ts'
import type { Renderers } from './renderers.ts'

/** With a content security policy: our own scripts, and only content from other origins. */
export function page(site: Site, html: string, status = 200): Response {
  // Besides 'self', because the page may have been opened at another address of this server.
  const content = ["'self'", ...contentOrigins(site)].join(' ')
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    // Mantine's components set CSS variables in style attributes.
    "style-src-attr 'unsafe-inline'",
    `img-src ${content}`,
    `media-src ${content}`,
    `connect-src ${content}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    // The download button is a form, whose redirect leads to the content.
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

export function wantsPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html')
}

/** A page for browsers, JSON for programs. */
export async function siteError(
  call: Call,
  refusal: Refusal,
  render: Renderers,
  readers: PageReaders,
): Promise<Response> {
  if (!wantsPage(call.request)) return errorResponse(refusal)
  const status = ERROR_STATUSES[refusal.code]
  const { code, reason, retryAfter = null } = refusal
  const html = render.errorPage(
    { status, code, reason, retryAfter, path: pathOf(call) },
    status >= 500 ? readers.duringOutage(call) : await readers.of(call),
  )
  const response = page(call.site, html, status)
  errorHeaders(refusal).forEach((value, name) => {
    response.headers.set(name, value)
  })
  return response
}

/** For a retry: the address of a GET, else the start page. */
function pathOf({ request, url }: Call): string {
  if (request.method !== 'GET' && request.method !== 'HEAD') return '/'
  return url.pathname.replace(/^\/+/, '/') + url.search
}

function contentOrigins({ config, publicUrl, contentUrl }: Site): string[] {
  const origins = [publicUrl, contentUrl].map((url) => new URL(url).origin)
  // The policy must also allow the target of a redirect.
  if (config.s3Redirect && config.s3 !== null) origins.push(storeOrigin(config.s3))
  return [...new Set(origins)]
}

function storeOrigin({ endpoint, bucket, pathStyle }: S3Config): string {
  const { protocol, host, origin } = new URL(endpoint)
  return pathStyle ? origin : `${protocol}//${bucket}.${host}`
}
