import type { Authentication } from '../accounts/authentication.ts'
import type { Refusal } from '../domain/errors.ts'
import type { Call } from '../server/call.ts'
import type { PageReader } from '../server/requests/browser.ts'
import { iconAnswer } from '../thumbnails/icons.ts'
import type { BuiltSite } from './built-site.ts'
import { createPageReaders } from './page-reader.ts'
import { siteError } from './pages.routes.ts'

export type PagesModule = ReturnType<typeof createPagesModule>

export function createPagesModule(
  { pages: render, assets }: BuiltSite,
  needs: {
    readonly authentication: Authentication
    readonly operations: { readonly notices: { shown(): PageReader['notice'] } }
  },
) {
  const readers = createPageReaders(needs.authentication, () => needs.operations.notices.shown())
  return {
    render,
    asset: (name: string, request: Request) => assets.answer(name, request) ?? iconAnswer(name),
    /** At a fixed address: `favicon.ico`. */
    file: (name: string, request: Request) => assets.answerPlain(name, request),
    reader: readers.of,
    error: (call: Call, refusal: Refusal) => siteError(call, refusal, render, readers),
  }
}
