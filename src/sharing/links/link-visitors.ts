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
  /** What tells a program without cookies from others, and what it asks for from what else the link opens. */
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
 * each of several behind one address counts; when it asks for a later part, it goes on with what it began. So it does when
 * it begins again what was broken off, where the link has no other place for it.
 */
export function createLinkVisitors(
  claims: Pick<LinkClaims, 'begunBy'>,
  signing: Signing,
  random: Random,
): (link: LinkRow, visit: LinkVisit) => Promise<KnownVisitor> {
  return async ({ id, max_downloads: limit }, { name, program: asking, isLaterPart }) => {
    const named = (text: string) => signing.tag('link-visitor', `${id}\n${text}`) as LinkVisitor
    if (name !== null) return known({ visitor: named(name), program: null, isAssumed: false })
    const program = signing.tag('link-program', `${id}\n${asking}`) as LinkProgram
    const begun = limit === null ? undefined : await claims.begunBy({ id, limit }, program, isLaterPart)
    if (begun !== undefined) return known({ visitor: begun, program, isAssumed: true })
    const newName = Buffer.from(random(16)).toString('base64url')
    return { downloader: { visitor: named(newName), program, isAssumed: false }, newName }
  }
}

const known = (downloader: LinkDownloader): KnownVisitor => ({ downloader, newName: null })
