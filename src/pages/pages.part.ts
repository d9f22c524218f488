import type { Authentication } from '../accounts/authentication.ts'
import type { Refusal } from '../domain/errors.ts'
import type { Call } from '../server/call.ts'
import type { PageReader } from '../server/requests/browser.ts'
import { iconAnswer } from '../thumbnails/icons.ts'
import type { BuiltSite } from './built-site.ts'
import { createPageReaders } from './page-reader.ts'
import { siteError } from './pages.routes.ts'
import type { Renderers } from './renderers.ts'

export interface PagesPart {
  readonly render: Renderers
  asset(name: string, request: Request): Response | null
  /** At a fixed address: `favicon.ico`. */
  file(name: string, request: Request): Response | null
  reader(call: Call): Promise<PageReader>
  error(call: Call, refusal: Refusal): Promise<Response>
}

export function createPagesPart(
  { pages: render, assets }: BuiltSite,
  needs: {
    readonly authentication: Authentication
    readonly operations: { readonly notices: { shown(): PageReader['notice'] } }
  },
): PagesPart {
  const readers = createPageReaders(needs.authentication, () => needs.operations.notices.shown())
  return {
    render,
    asset: (name, request) => assets.answer(name, request) ?? iconAnswer(name),
    file: (name, request) => assets.answerPlain(name, request),
    reader: readers.of,
    error: (call, refusal) => siteError(call, refusal, render, readers),
  }
}
