import * as z from 'zod'
import type { Asker } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FolderId, FolderIdentifier, Uuid } from '../domain/ids.ts'
import type { Signing } from './signing.ts'
import { evidenceFields, evidenceIn, evidenceOf } from './token-evidence.ts'

/** Seconds a signed content address is good for. */
export const CONTENT_TOKEN_LIFETIME = 1800
/** Seconds the addresses in a page are good for: a film that is left in its middle can be gone on with. */
export const PAGE_TOKEN_LIFETIME = 12 * 3600

/** What an address is signed for, besides its file and whoever asked. */
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
  issue(asker: Asker, file: Uuid, use: ContentUse): string
  /** Throws Refusal INVALID_TOKEN when it was changed, is for another file or is too old. */
  read(token: string, file: Uuid): { readonly asker: Asker } & Omit<ContentUse, 'lifetime'>
}

const PURPOSE = 'content'

const payload = z.object({
  f: z.string(),
  e: z.number(),
  c: z.boolean(),
  p: z.boolean().default(false),
  a: z.number().nullable(),
  w: z.string().nullable().default(null),
  ...evidenceFields,
  g: z.array(z.tuple([z.number(), z.string()])),
})

export function createContentTokens(signing: Signing, clock: Clock): ContentTokens {
  return {
    issue({ reach, grants }, file, { counted, proxied, lifetime }) {
      const expires = Math.floor(clock.now() / 1000) + lifetime
      return signing.sign(PURPOSE, {
        f: file,
        e: expires,
        c: counted,
        p: proxied,
        a: reach?.account ?? null,
        w: reach?.within ?? null,
        ...evidenceOf(reach?.by ?? null),
        g: [...grants],
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
      const { a, w, g, c, p } = found.data
      const grants = g.map(([folder, tag]) => [folder as FolderId, tag] as const)
      const by = evidenceIn(found.data)
      // An address from before addresses named what they were asked for with is nobody's.
      const reach =
        a === null || by === null
          ? null
          : { account: a as AccountId, within: w as FolderIdentifier | null, by }
      return { asker: { reach, grants: new Map(grants) }, counted: c, proxied: p }
    },
  }
}
