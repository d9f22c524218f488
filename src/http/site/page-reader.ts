import type { Call } from '../call.ts'
import { type Reader, readerOf } from './language.ts'

/**
 * Who reads the page: in which language, and signed in as whom, once that is known of the call. And what the
 * administrators tell everybody.
 */
export function pageReader({ request, caller, site }: Call): Reader {
  const isSignedIn = caller?.kind === 'account' && caller.by.kind === 'session'
  const username = isSignedIn ? caller.username : null
  return { ...readerOf(request), username, notice: site.services.notices.shown() }
}
