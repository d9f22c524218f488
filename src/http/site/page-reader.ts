import type { Call } from '../call.ts'
import { type Reader, readerOf } from './language.ts'

/** Who reads the page: in which language, and signed in as whom, once that is known of the call. */
export function pageReader({ request, caller }: Call): Reader {
  const isSignedIn = caller?.kind === 'account' && caller.by.kind === 'session'
  return { ...readerOf(request), username: isSignedIn ? caller.username : null }
}
