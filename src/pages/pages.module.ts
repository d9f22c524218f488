import type { Authentication } from '../accounts/authentication.ts'
import type { Refusal } from '../domain/errors.ts'
import type { Call } from '../server/call.ts'
import { iconAnswer } from '../thumbnails/icons.ts'
import type { BuiltSite } from './built-site.ts'
import { createPageReaders, type ShownEverywhere } from './page-reader.ts'
import { siteError } from './pages.routes.ts'
import { manifestOf } from './site-manifest.ts'

export type PagesModule = ReturnType<typeof createPagesModule>

export function createPagesModule(
  { pages: render, assets }: BuiltSite,
  needs: {
    readonly authentication: Authentication
    readonly operations: ShownEverywhere
  },
) {
  const readers = createPageReaders(needs.authentication, needs.operations)
  return {
    render,
    asset: (name: string, request: Request) => assets.answer(name, request) ?? iconAnswer(name),
    /** At a fixed address: `favicon.ico`. */
    file(name: string, request: Request) {
      const own = name === 'site.webmanifest' ? manifestOf(needs.operations.branding.shown()) : null
      return own ?? assets.answerPlain(name, request)
    },
    reader: readers.of,
    error: (call: Call, refusal: Refusal) => siteError(call, refusal, render, readers),
  }
}
