import type { Call } from '../call.ts'
import { type Reader, readerOf } from './language.ts'

/**
 * Who reads the page: in which language, and signed in as whom, once that is known of the call. And what the
 * administrators tell everybody.
 */
export function pageReader({ request, caller, site }: Call): Reader {
  const reader = { ...readerOf(request), notice: site.services.notices.shown() }
  if (caller?.kind !== 'account' || caller.by.kind !== 'session') return reader
  return { ...reader, username: caller.username, isAdmin: caller.by.isAdmin }
}
