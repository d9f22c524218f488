import * as z from 'zod'
import type { Signing } from '../core/hmac.ts'
import type { Requester } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { extensionOf } from '../domain/file-name.ts'
import {
  type FileId,
  type FileIdentifier,
  type FolderId,
  type LinkId,
  type LinkProgram,
  type LinkVisitor,
  parseFileIdentifier,
  type Uuid,
} from '../domain/ids.ts'
import type { Opened } from '../sharing/access.ts'
import { addressExpired, type SignedLink } from '../sharing/links/link-access.ts'
import { fileNumber, type LinkNames } from '../sharing/links/link-paths.ts'
import { rightsFields, rightsIn, rightsOf } from './token-rights.ts'

/** Seconds a signed content address is good for. */
export const CONTENT_TOKEN_LIFETIME = 1800
/** Seconds the addresses in a page are good for: a film that is left in its middle can be gone on with. */
export const PAGE_TOKEN_LIFETIME = 12 * 3600

/** Purpose of a signed address, beside its file and the requester. */
export interface ContentUse {
  /** The page that shows the bytes has been counted as the view already. */
  readonly counted: boolean
  /** Seconds. */
  readonly lifetime: number
}

/**
 * A signed address names one file, who asked for it, and which of their rights that took, so that access can be decided
 * again at every request: what was made private or locked since is not served.
 */
export interface ContentTokens {
  issue(requester: Requester, seen: SignedFile, use: ContentUse): SignedContent
  /**
   * `file`: as the address names it. Throws Refusal INVALID_TOKEN when the token was changed, is for another file or is too
   * old.
   */
  read(token: string, file: string): ReadToken
}

/** The parts of an address that depend on the file. */
export interface SignedContent {
  /** `<name>.<ext>`, or the name alone when the file's own name has no plain extension. */
  readonly file: string
  readonly token: string
}

export interface ReadToken extends Omit<ContentUse, 'lifetime'> {
  readonly identifier: FileIdentifier
  readonly requester: Requester
  readonly link: SignedLink | null
}

/** A file that the requester may see, and the closed folders that were passed on the way. */
export interface SignedFile extends Pick<Opened<unknown>, 'closed'> {
  readonly item: { readonly id: FileId; readonly uuid: Uuid; readonly name: string }
}

const PURPOSE = 'content'
/** Of addresses by a made link: sealed, and the file has the name that it has below that link. */
const LINK_PURPOSE = 'link-content'

const payload = z.object({
  f: z.string(),
  e: z.number(),
  c: z.boolean(),
  ...rightsFields,
  g: z.array(z.tuple([z.number(), z.string()])),
})

const linkPayload = z.object({
  ...payload.shape,
  l: z.number(),
  t: z.string().nullable(),
  v: z.tuple([z.string(), z.string().nullable()]).nullable(),
  u: z.boolean().default(false),
})

function linkIn({ l, t, v, u }: z.infer<typeof linkPayload>, isLate: boolean): SignedLink {
  const visitor = v && { visitor: v[0] as LinkVisitor, program: v[1] as LinkProgram | null, isAssumed: u }
  return { id: l as LinkId, passwordTag: t, visitor, isLate }
}

function linkFields({ id, passwordTag, visitor }: Omit<SignedLink, 'isLate'>) {
  return {
    l: id,
    t: passwordTag,
    v: visitor && [visitor.visitor, visitor.program],
    ...(visitor?.isAssumed ? { u: true } : {}),
  }
}

function withExtension(name: string, fileName: string): string {
  const extension = extensionOf(fileName)
  return /^[a-z0-9]{1,16}$/.test(extension) ? `${name}.${extension}` : name
}

/** null for a name that no address has. */
function identifierIn(name: string, isByLink: boolean): FileIdentifier | null {
  if (isByLink) {
    const id = fileNumber(name)
    return id === null ? null : { kind: 'id', id }
  }
  const identifier = parseFileIdentifier(name)
  return identifier.kind === 'uuid' ? identifier : null
}

export function createContentTokens(signing: Signing, names: LinkNames, clock: Clock): ContentTokens {
  return {
    issue({ reach, grants, link = null }, { item, closed }, { counted, lifetime }) {
      const expires = Math.floor(clock.now() / 1000) + lifetime
      const name = link === null ? item.uuid : names.of(link.id, { kind: 'file', id: item.id })
      const fields = {
        f: name,
        e: expires,
        c: counted,
        ...rightsOf(reach, { closed, closings: null }),
        g: [...grants],
      }
      const token =
        link === null
          ? signing.sign(PURPOSE, fields)
          : signing.seal(LINK_PURPOSE, { ...fields, ...linkFields(link) })
      return { file: withExtension(name, item.name), token }
    },

    read(token, file) {
      const [name = ''] = file.split('.')
      const signed = signing.verify(PURPOSE, token)
      // An address is signed for one of both purposes.
      const byLink = signed === null ? linkPayload.safeParse(signing.unseal(LINK_PURPOSE, token)) : null
      const found = byLink ?? payload.safeParse(signed)
      const identifier = identifierIn(name, byLink !== null)
      // A UUID may be in capital letters.
      if (!found.success || identifier === null || found.data.f !== name.toLowerCase()) {
        throw new Refusal('INVALID_TOKEN', 'This address is not valid; open the page of the file again')
      }
      const isLate = clock.now() / 1000 >= found.data.e
      // Whether a late address of a link is being read is for the link to say.
      if (isLate && byLink === null) throw addressExpired()
      const { g, c } = found.data
      const grants = new Map(g.map(([folder, tag]) => [folder as FolderId, tag] as const))
      const link = byLink?.success === true ? linkIn(byLink.data, isLate) : null
      return {
        identifier,
        requester: { reach: null, grants, signed: rightsIn(found.data) },
        link,
        counted: c,
      }
    },
  }
}
