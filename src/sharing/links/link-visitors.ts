import * as z from 'zod'
import type { Signing } from '../../core/hmac.ts'
import type { LinkDownloader } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { LinkId, LinkProgram, LinkVisitor } from '../../domain/ids.ts'
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
  /** Value of the form that takes a place; null for none. */
  readonly once: string | null
  /** Token of a place that a form has taken, in the address to which it leads; null for none. */
  readonly place: string | null
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
 * it begins again what was broken off, where the link has no other place for it. A form without a cookie is told by its
 * value, and what it leads to by the token of its place. Throws Refusal INVALID_TOKEN for another one or an old one.
 */
export function createLinkVisitors(
  claims: Pick<LinkClaims, 'begunBy' | 'isInUse'>,
  signing: Signing,
  { random, clock }: { readonly random: Random; readonly clock: Clock },
): (link: LinkRow, visit: LinkVisit) => Promise<KnownVisitor> {
  async function placed(link: LinkId, token: string): Promise<LinkDownloader> {
    const found = placeToken.safeParse(signing.unseal(PLACE, token))
    if (!found.success || found.data.l !== link) throw placeInvalid()
    const { v, p, e } = found.data
    const visitor = v as LinkVisitor
    if (e <= clock.now() && !(await claims.isInUse(link, visitor))) throw placeInvalid()
    return { visitor, program: p as LinkProgram | null, isAssumed: false }
  }

  return async ({ id, max_downloads: limit }, { name, program: asking, isLaterPart, once, place }) => {
    const named = (text: string) => signing.tag('link-visitor', `${id}\n${text}`) as LinkVisitor
    if (place !== null && limit !== null) return known(await placed(id, place))
    if (name === null && once !== null) {
      const own = `form\n${once}`
      const program = signing.tag('link-program', `${id}\n${own}`) as LinkProgram
      return known({ visitor: named(own), program, isAssumed: false })
    }
    if (name !== null) return known({ visitor: named(name), program: null, isAssumed: false })
    const program = signing.tag('link-program', `${id}\n${asking}`) as LinkProgram
    const begun = limit === null ? undefined : await claims.begunBy({ id, limit }, program, isLaterPart)
    if (begun !== undefined) return known({ visitor: begun, program, isAssumed: true })
    const newName = Buffer.from(random(16)).toString('base64url')
    return { downloader: { visitor: named(newName), program, isAssumed: false }, newName }
  }
}

const PLACE = 'link-place'
const placeToken = z.object({ l: z.number(), v: z.string(), p: z.string().nullable(), e: z.number() })

/** A token of the visitor's place, for an address below the link. `until`: in Unix milliseconds. */
export function placeTokenFor(
  signing: Pick<Signing, 'seal'>,
  link: LinkId,
  { visitor, program }: LinkDownloader,
  until: number,
): string {
  return signing.seal(PLACE, { l: link, v: visitor, p: program, e: until })
}

function placeInvalid(): Refusal {
  return new Refusal('INVALID_TOKEN', 'This address is not valid any more; open the page of the link again')
}

const known = (downloader: LinkDownloader): KnownVisitor => ({ downloader, newName: null })
