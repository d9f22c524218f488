import type { Caller } from '../../services/caller.ts'
import type { Call } from '../call.ts'
import { pageSession, sessionToken } from '../session.ts'
import { type Reader, readerOf } from './language.ts'

/**
 * Who reads the page: in which language, and signed in as whom, which is looked up where no route has asked for it. And
 * what the administrators tell everybody.
 */
export async function pageReader(call: Call): Promise<Reader> {
  return readerWho(call, call.caller ?? (await pageSession(call)))
}

/** The same for a page that tells of an outage: whether a session counts is not asked, and not claimed. */
export function outageReader(call: Call): Reader {
  const reader = readerWho(call, call.caller)
  return { ...reader, isUnsure: reader.username === undefined && sessionToken(call) !== null }
}

function readerWho({ request, site }: Call, caller: Caller | null): Reader {
  const reader = { ...readerOf(request), notice: site.services.notices.shown() }
  if (caller?.kind !== 'account' || caller.by.kind !== 'session') return reader
  return { ...reader, username: caller.username, isAdmin: caller.by.isAdmin }
}
