import * as z from 'zod'
import type { Viewer } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FolderId, Uuid } from '../domain/ids.ts'
import type { Signing } from './signing.ts'

/** Seconds a signed content address is good for. */
export const CONTENT_TOKEN_LIFETIME = 1800

/**
 * A signed address names one file and says who asked for it, so that access can be decided again at every
 * request: what was made private or locked since is not served.
 */
export interface ContentTokens {
  /** `counted` false: the page that shows the bytes has been counted as the view already. */
  issue(viewer: Viewer, file: Uuid, counted: boolean): string
  /** Throws Refusal INVALID_TOKEN when it was changed, is for another file or is too old. */
  read(token: string, file: Uuid): { readonly viewer: Viewer; readonly counted: boolean }
}

const PURPOSE = 'content'

const payload = z.object({
  f: z.string(),
  e: z.number(),
  c: z.boolean(),
  a: z.number().nullable(),
  g: z.array(z.tuple([z.number(), z.string()])),
})

export function createContentTokens(signing: Signing, clock: Clock): ContentTokens {
  return {
    issue(viewer, file, counted) {
      const expires = Math.floor(clock.now() / 1000) + CONTENT_TOKEN_LIFETIME
      return signing.sign(PURPOSE, {
        f: file,
        e: expires,
        c: counted,
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
      }
    },
  }
}
