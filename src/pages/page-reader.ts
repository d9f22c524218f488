import type { Authentication } from '../accounts/authentication.ts'
import type { Caller } from '../core/callers.ts'
import type { ShownBranding } from '../domain/branding.ts'
import type { Call } from '../server/call.ts'
import { type PageReader, readerOf, type ShownNotice } from '../server/requests/browser.ts'

export interface PageReaders {
  /** Looks the session up unless the route has done so. */
  of(call: Call): Promise<PageReader>
  /** For an error page during an outage: does not look up the session. */
  duringOutage(call: Call): PageReader
}

/** From memory, so that error pages have them during an outage. */
export interface ShownEverywhere {
  readonly notices: { shown(): ShownNotice | null }
  readonly branding: { shown(): ShownBranding }
}

export function createPageReaders(
  authentication: Pick<Authentication, 'pageSession' | 'sendsSession'>,
  { notices, branding }: ShownEverywhere,
): PageReaders {
  function readerWho({ request, site }: Call, caller: Caller | null): PageReader {
    const reader = {
      ...readerOf(request),
      publicUrl: site.publicUrl,
      notice: notices.shown(),
      branding: branding.shown(),
    }
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

export function seeOther(location: string): Response {
  return new Response(null, {
    status: 303,
    headers: { Location: location, 'Cache-Control': 'private, no-store' },
  })
}
