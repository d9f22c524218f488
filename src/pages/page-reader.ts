import type { Caller } from '../core/callers.ts'
import type { Authentication } from '../server/authentication.ts'
import type { Call } from '../server/call.ts'
import { type PageReader, readerOf } from '../server/requests/language.ts'

/** Determines for whom a page is rendered. */
export interface PageReaders {
  /**
   * The reader's language and session, which is looked up if the route has not done so, and the current
   * notice.
   */
  of(call: Call): Promise<PageReader>
  /**
   * The reader for an error page during an outage: without a session lookup, and without a claim about it.
   */
  duringOutage(call: Call): PageReader
}

/** `shownNotice` returns the notice that is displayed now. */
export function createPageReaders(
  authentication: Pick<Authentication, 'pageSession' | 'sendsSession'>,
  shownNotice: () => PageReader['notice'],
): PageReaders {
  function readerWho({ request, site }: Call, caller: Caller | null): PageReader {
    const reader = { ...readerOf(request), publicUrl: site.publicUrl, notice: shownNotice() }
    if (caller?.kind !== 'account' || caller.by.kind !== 'session') return reader
    const { username, account, by } = caller
    return { ...reader, username, account, isAdmin: by.isAdmin }
  }

  return {
    of: async (call) => readerWho(call, call.caller ?? (await authentication.pageSession(call))),

    duringOutage(call) {
      const reader = readerWho(call, call.caller)
      return { ...reader, isUnsure: reader.username === undefined && authentication.sendsSession(call) }
    },
  }
}
