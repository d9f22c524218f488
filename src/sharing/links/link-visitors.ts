import type { Signing } from '../../core/hmac.ts'
import type { LinkDownloader } from '../../domain/access.ts'
import type { LinkProgram, LinkVisitor } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import type { LinkClaims } from './link-claims.ts'
import type { LinkRow } from './links.rows.ts'

/** A request for what a link opens. */
export interface LinkVisit {
  readonly slug: string
  /** Cookie with the passwords that were given. */
  readonly passwords: string | null
  /** The visitor's name, of the cookie; null for one who has none. */
  readonly name: string | null
  /** What tells a program without cookies from others. */
  readonly program: string
  /** Whether it asks for a later part of something. */
  readonly isLaterPart: boolean
}

export interface KnownVisitor {
  /** null for the owner. */
  readonly downloader: LinkDownloader | null
  /** For the cookie of a visitor who has none; null where the visitor is known. */
  readonly newName: string | null
}

/**
 * Tells who a visitor is: by a cookie. A program without cookies is a new visitor whenever it begins something, so that
 * each of several behind one address counts; when it asks for a later part, it goes on with what it began.
 */
export function createLinkVisitors(
  claims: Pick<LinkClaims, 'begunBy'>,
  signing: Signing,
  random: Random,
): (link: LinkRow, visit: LinkVisit) => Promise<KnownVisitor> {
  return async ({ id, max_downloads }, { name, program: text, isLaterPart }) => {
    const named = (known: string) => signing.tag('link-visitor', `${id}\n${known}`) as LinkVisitor
    if (name !== null) return { downloader: { visitor: named(name), program: null }, newName: null }
    const program = signing.tag('link-program', `${id}\n${text}`) as LinkProgram
    const begun = max_downloads !== null && isLaterPart ? await claims.begunBy(id, program) : undefined
    if (begun !== undefined) return { downloader: { visitor: begun, program }, newName: null }
    const newName = Buffer.from(random(16)).toString('base64url')
    return { downloader: { visitor: named(newName), program }, newName }
  }
}
