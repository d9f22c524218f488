import * as z from 'zod'
import type { Signing } from '../core/hmac.ts'
import type { Requester } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FolderId, LinkId, LinkProgram, LinkVisitor, Uuid } from '../domain/ids.ts'
import type { Opened } from '../sharing/access.ts'
import type { SignedLink } from '../sharing/links/link-access.ts'
import { rightsFields, rightsIn, rightsOf } from './token-rights.ts'

/** Seconds a signed content address is good for. */
export const CONTENT_TOKEN_LIFETIME = 1800
/** Seconds the addresses in a page are good for: a film that is left in its middle can be gone on with. */
export const PAGE_TOKEN_LIFETIME = 12 * 3600

/** Purpose of a signed address, beside its file and the requester. */
export interface ContentUse {
  /** The page that shows the bytes has been counted as the view already. */
  readonly counted: boolean
  /** The bytes come from here even where the store could give them out: scripts may not read them there. */
  readonly proxied: boolean
  /** Seconds. */
  readonly lifetime: number
}

/**
 * A signed address names one file, who asked for it, and which of their rights that took, so that access can be decided
 * again at every request: what was made private or locked since is not served.
 */
export interface ContentTokens {
  issue(requester: Requester, seen: SignedFile, use: ContentUse): string
  /** Throws Refusal INVALID_TOKEN when it was changed, is for another file or is too old. */
  read(
    token: string,
    file: Uuid,
  ): { readonly requester: Requester; readonly link: SignedLink | null } & Omit<ContentUse, 'lifetime'>
}

/** A file that the requester may see, and the closed folders that were passed on the way. */
export interface SignedFile extends Pick<Opened<unknown>, 'closed'> {
  readonly item: { readonly uuid: Uuid }
}

const PURPOSE = 'content'
/** Of addresses by a made link: an earlier release, which knows no links, refuses them. */
const LINK_PURPOSE = 'link-content'

const payload = z.object({
  f: z.string(),
  e: z.number(),
  c: z.boolean(),
  p: z.boolean().default(false),
  ...rightsFields,
  g: z.array(z.tuple([z.number(), z.string()])),
})

const linkPayload = z.object({
  ...payload.shape,
  l: z.number(),
  t: z.string().nullable(),
  v: z.tuple([z.string(), z.string().nullable()]).nullable(),
  // An earlier release reads no third part of the visitor.
  u: z.boolean().default(false),
})

function linkIn({ l, t, v, u }: z.infer<typeof linkPayload>): SignedLink {
  const visitor = v && { visitor: v[0] as LinkVisitor, program: v[1] as LinkProgram | null, isAssumed: u }
  return { id: l as LinkId, passwordTag: t, visitor }
}

function linkFields({ id, passwordTag, visitor }: SignedLink) {
  return {
    l: id,
    t: passwordTag,
    v: visitor && [visitor.visitor, visitor.program],
    ...(visitor?.isAssumed ? { u: true } : {}),
  }
}

export function createContentTokens(signing: Signing, clock: Clock): ContentTokens {
  return {
    issue({ reach, grants, link = null }, { item, closed }, { counted, proxied, lifetime }) {
      const expires = Math.floor(clock.now() / 1000) + lifetime
      const fields = {
        f: item.uuid,
        e: expires,
        c: counted,
        p: proxied,
        ...rightsOf(reach, { closed, closings: null }),
        g: [...grants],
      }
      return link === null
        ? signing.sign(PURPOSE, fields)
        : signing.sign(LINK_PURPOSE, { ...fields, ...linkFields(link) })
    },

    read(token, file) {
      const signed = signing.verify(PURPOSE, token)
      // An address is signed for one of both purposes.
      const byLink = signed === null ? linkPayload.safeParse(signing.verify(LINK_PURPOSE, token)) : null
      const found = byLink ?? payload.safeParse(signed)
      if (!found.success || found.data.f !== file) {
        throw new Refusal('INVALID_TOKEN', 'This address is not valid; open the page of the file again')
      }
      if (clock.now() / 1000 >= found.data.e) {
        throw new Refusal('INVALID_TOKEN', 'This address has expired; open the page of the file again')
      }
      const { g, c, p } = found.data
      const grants = new Map(g.map(([folder, tag]) => [folder as FolderId, tag] as const))
      const link = byLink?.success === true ? linkIn(byLink.data) : null
      return {
        requester: { reach: null, grants, signed: rightsIn(found.data) },
        link,
        counted: c,
        proxied: p,
      }
    },
  }
}
