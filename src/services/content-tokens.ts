import * as z from 'zod'
import type { Viewer } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FolderId, Uuid } from '../domain/ids.ts'
import type { Signing } from './signing.ts'

/** Seconds a signed content address is good for. */
export const CONTENT_TOKEN_LIFETIME = 1800
/** Seconds the addresses in a page are good for: a film that is left in its middle can be gone on with. */
export const PAGE_TOKEN_LIFETIME = 12 * 3600

/** What an address is signed for, besides its file and its viewer. */
export interface ContentUse {
  /** The page that shows the bytes has been counted as the view already. */
  readonly counted: boolean
  /** The bytes come from here even where the store could give them out: scripts may not read them there. */
  readonly proxied: boolean
  /** Seconds. */
  readonly lifetime: number
}

/**
 * A signed address names one file and says who asked for it, so that access can be decided again at every
 * request: what was made private or locked since is not served.
 */
export interface ContentTokens {
  issue(viewer: Viewer, file: Uuid, use: ContentUse): string
  /** Throws Refusal INVALID_TOKEN when it was changed, is for another file or is too old. */
  read(token: string, file: Uuid): { readonly viewer: Viewer } & Omit<ContentUse, 'lifetime'>
}

const PURPOSE = 'content'

const payload = z.object({
  f: z.string(),
  e: z.number(),
  c: z.boolean(),
  p: z.boolean().default(false),
  a: z.number().nullable(),
  g: z.array(z.tuple([z.number(), z.string()])),
})

export function createContentTokens(signing: Signing, clock: Clock): ContentTokens {
  return {
    issue(viewer, file, { counted, proxied, lifetime }) {
      const expires = Math.floor(clock.now() / 1000) + lifetime
      return signing.sign(PURPOSE, {
        f: file,
        e: expires,
        c: counted,
        p: proxied,
        a: viewer.account,
        g: [...viewer.grants],
      })
    },

    read(token, file) {
      const found = payload.safeParse(signing.verify(PURPOSE, token))
      if (!found.success || found.data.f !== file) {
        throw new Refusal('INVALID_TOKEN', 'This address is not valid; open the page of the file again')
      }
      if (clock.now() / 1000 >= found.data.e) {
        throw new Refusal('INVALID_TOKEN', 'This address has expired; open the page of the file again')
      }
      const grants = found.data.g.map(([folder, tag]) => [folder as FolderId, tag] as const)
      return {
        viewer: { account: found.data.a as AccountId | null, grants: new Map(grants) },
        counted: found.data.c,
        proxied: found.data.p,
      }
    },
  }
}
