import * as z from 'zod'
import type { Signing } from '../core/hmac.ts'
import type { Requester, SignedRights } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { extensionOf } from '../domain/file-name.ts'
import {
  type AccountId,
  type FileId,
  type FileIdentifier,
  type FolderId,
  type FolderIdentifier,
  type KeyId,
  type LinkId,
  type LinkProgram,
  type LinkVisitor,
  parseFileIdentifier,
  type SessionId,
  type Uuid,
} from '../domain/ids.ts'
import type { FileDetailRow } from '../files/files.ts'
import type { Site } from '../server/call.ts'
import type { Opened } from '../sharing/access.ts'
import { addressExpired, fileNumber, type LinkNames, type SignedLink } from '../sharing/links/link-access.ts'

/** As an attachment, as its own type, or as plain text. */
export type Presentation = 'download' | 'view' | 'raw'

const PARAMETERS = { download: '&download=true', view: '', raw: '&raw=true' } satisfies Record<
  Presentation,
  string
>

export function contentAddress(
  { contentUrl }: Pick<Site, 'contentUrl'>,
  tokens: ContentTokens,
  requester: Requester,
  seen: Pick<Opened<FileDetailRow>, 'item' | 'closed'>,
  use: ContentUse & { readonly as: Presentation },
): string {
  const { file, token } = tokens.issue(requester, seen, use)
  return `${contentUrl}/v2/${file}?token=${token}${PARAMETERS[use.as]}`
}

/**
 * In whose name an address was signed, with which key or session, and which closed folders their rights lead past. Null:
 * nobody's.
 */
export const rightsField = z
  .object({
    a: z.number(),
    w: z.string().nullable(),
    b: z.tuple([z.enum(['key', 'session']), z.number()]),
    h: z.array(z.tuple([z.number(), z.number()])),
    n: z.number().nullable(),
  })
  .nullable()

type RightsField = z.infer<typeof rightsField>

export function rightsOf(
  reach: Requester['reach'],
  { closed, closings }: Pick<SignedRights, 'closed' | 'closings'>,
): RightsField {
  if (reach === null) return null
  const { account, within, by } = reach
  return {
    a: account,
    w: within,
    b: by.kind === 'key' ? ['key', by.key] : ['session', by.session],
    h: [...closed],
    n: closings,
  }
}

export function rightsIn(field: RightsField): NonNullable<Requester['signed']> | null {
  if (field === null) return null
  const { a, w, b, h, n } = field
  const [kind, id] = b
  return {
    account: a as AccountId,
    within: w as FolderIdentifier | null,
    by: kind === 'key' ? { kind, key: id as KeyId } : { kind, session: id as SessionId },
    closed: new Map(h.map(([folder, closing]) => [folder as FolderId, closing])),
    closings: n,
  }
}

/** Seconds. */
export const CONTENT_TOKEN_LIFETIME = 1800
/** Seconds, so that a film paused in a page can go on. */
export const PAGE_TOKEN_LIFETIME = 12 * 3600

export interface ContentUse {
  /** The page that shows the bytes has counted the view already. */
  readonly counted: boolean
  /** Seconds. */
  readonly lifetime: number
}

/** Tokens name the rights used, so that access is decided again at every request. */
export interface ContentTokens {
  issue(requester: Requester, seen: SignedFile, use: ContentUse): SignedContent
  /** Throws Refusal INVALID_TOKEN for a changed or expired token, or one for another file. */
  read(token: string, file: string): ReadToken
}

export interface SignedContent {
  /** `<name>.<ext>`, or the name alone without a plain extension. */
  readonly file: string
  readonly token: string
}

export interface ReadToken extends Omit<ContentUse, 'lifetime'> {
  readonly identifier: FileIdentifier
  readonly requester: Requester
  readonly link: SignedLink | null
}

/** `closed`: folders passed on the way. */
export interface SignedFile extends Pick<Opened<unknown>, 'closed'> {
  readonly item: { readonly id: FileId; readonly uuid: Uuid; readonly name: string }
}

const PURPOSE = 'content'
/** Addresses below a link are sealed, and use the file's name below that link. */
const LINK_PURPOSE = 'link-content'

const payload = z.object({
  f: z.string(),
  e: z.number(),
  c: z.boolean(),
  r: rightsField,
  g: z.array(z.tuple([z.number(), z.string()])),
})

const linkPayload = z.object({
  ...payload.shape,
  l: z.number(),
  t: z.string().nullable(),
  v: z.tuple([z.string(), z.string().nullable(), z.boolean()]).nullable(),
})

function linkIn({ l, t, v }: z.infer<typeof linkPayload>, isLate: boolean): SignedLink {
  const visitor = v && { visitor: v[0] as LinkVisitor, program: v[1] as LinkProgram | null, isAssumed: v[2] }
  return { id: l as LinkId, passwordTag: t, visitor, isLate }
}

function linkFields({ id, passwordTag, visitor }: Omit<SignedLink, 'isLate'>) {
  return {
    l: id,
    t: passwordTag,
    v: visitor && [visitor.visitor, visitor.program, visitor.isAssumed],
  }
}

function withExtension(name: string, fileName: string): string {
  const extension = extensionOf(fileName)
  return /^[a-z0-9]{1,16}$/.test(extension) ? `${name}.${extension}` : name
}

/** Null for an invalid name. */
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
        r: rightsOf(reach, { closed, closings: null }),
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
      // Signed for exactly one of the purposes.
      const byLink = signed === null ? linkPayload.safeParse(signing.unseal(LINK_PURPOSE, token)) : null
      const found = byLink ?? payload.safeParse(signed)
      const identifier = identifierIn(name, byLink !== null)
      // A UUID may be in capital letters.
      if (!found.success || identifier === null || found.data.f !== name.toLowerCase()) {
        throw new Refusal('INVALID_TOKEN', 'This address is not valid; open the page of the file again')
      }
      const isLate = clock.now() / 1000 >= found.data.e
      // The link decides about its expired addresses.
      if (isLate && byLink === null) throw addressExpired()
      const { g, c } = found.data
      const grants = new Map(g.map(([folder, tag]) => [folder as FolderId, tag] as const))
      const link = byLink?.success === true ? linkIn(byLink.data, isLate) : null
      return {
        identifier,
        requester: { reach: null, grants, signed: rightsIn(found.data.r) },
        link,
        counted: c,
      }
    },
  }
}
