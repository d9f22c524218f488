import type { ErrorCode, Refusal } from '../../domain/errors.ts'
import type { Call, Site } from '../call.ts'
import { errorHeaders, errorResponse, statusOf } from '../errors.ts'
import { contentOrigins } from './content-origins.ts'
import { renderErrorPage } from './render.ts'

/** A page of the site. Nothing in it runs, and nothing in it is loaded from elsewhere. */
export function page(site: Site, html: string, status = 200): Response {
  // Named besides 'self', because the page may have been opened at another address of this server.
  const content = ["'self'", ...contentOrigins(site)].join(' ')
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${content}`,
    `media-src ${content}`,
    "form-action 'self'",
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
      'Referrer-Policy': 'same-origin',
    },
  })
}

/** Whether the caller is a browser that shows pages, rather than a program that reads JSON. */
export function wantsPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html')
}

const titles: Partial<Record<ErrorCode, string>> = {
  FILE_NOT_FOUND: 'This file is not here',
  FILE_ARRIVING: 'This file is still arriving',
  FOLDER_NOT_FOUND: 'This folder is not here',
  NOT_FOUND: 'This page is not here',
  PASSWORD_REQUIRED: 'A password comes first',
  INVALID_TOKEN: 'This link no longer works',
  RATE_LIMITED: 'Too many requests',
  STORAGE_UNAVAILABLE: 'No uploads at the moment',
  DATABASE_UNAVAILABLE: 'Back in a moment',
  SHUTTING_DOWN: 'Back in a moment',
  INTERNAL_ERROR: 'Something went wrong here',
}

/** The error as a page for people, as JSON for programs. */
export function siteError(call: Call, refusal: Refusal): Response {
  if (!wantsPage(call.request)) return errorResponse(refusal)
  const status = statusOf(refusal.code)
  const title = titles[refusal.code] ?? 'That did not work'
  const response = page(call.site, renderErrorPage({ status, title, message: refusal.message }), status)
  errorHeaders(refusal).forEach((value, name) => {
    response.headers.set(name, value)
  })
  return response
}
