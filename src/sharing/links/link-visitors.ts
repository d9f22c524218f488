import * as z from 'zod'
import type { Signing } from '../../core/hmac.ts'
import type { LinkDownloader } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { LinkId, LinkProgram, LinkVisitor } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { type Call, FOLDER_COOKIE } from '../../server/call.ts'
import { cookieValue } from '../../server/requests/browser.ts'
import type { LinkClaims } from './link-claims.ts'
import type { LinkRow } from './links.rows.ts'

export interface LinkVisit {
  readonly slug: string
  readonly passwords: string | null
  readonly name: string | null
  /** Identifies a program without cookies, and its target within the link. */
  readonly program: string
  readonly isLaterPart: boolean
  readonly once: string | null
  /** Of a slot taken by a form. */
  readonly place: string | null
}

export interface KnownVisitor {
  /** Null for the owner. */
  readonly downloader: LinkDownloader | null
  readonly newName: string | null
}

/**
 * Identifies visitors by a cookie. A program without cookies is a new visitor whenever it begins something,
 * so that each of several behind one address counts; a later range continues its download, and so does a
 * restart after an interruption where the link has no free slot. A form without a cookie is identified by its
 * value, and its target by the token of its slot. Throws Refusal INVALID_TOKEN for a foreign or old token.
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

/** `until`: Unix milliseconds. */
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

/** Identifies a browser at one link that counts downloads, from the first answer on. */
export const VISITOR_COOKIE = 'link_visitor'

const LATER_PART = /^bytes=([1-9]\d*-\d*|-\d+)$/

export function linkVisit({ request, bucket, params, url }: Call, once: string | null = null): LinkVisit {
  const part = url.searchParams.get('download') === 'zip' ? 'zip' : 'file'
  return {
    slug: params.link ?? '',
    passwords: cookieValue(request, FOLDER_COOKIE),
    name: cookieValue(request, VISITOR_COOKIE),
    program: [bucket, request.headers.get('user-agent') ?? '', params.target ?? '', part].join('\n'),
    once,
    place: url.searchParams.get('place'),
    isLaterPart: LATER_PART.test(request.headers.get('range') ?? ''),
  }
}

/** Most say `bot`, or that they make previews; the others are named. Cubot makes phones. */
const PREVIEWERS =
  /(?<!cu)bot\b|crawler|spider|preview|facebookexternalhit|whatsapp|slack-imgproxy|embedly|iframely|vkshare|google-pagerenderer|synapse/i

/** Whether a program or a prefetch makes the request, so no person gets the answer. */
export function isPreview({ headers }: Request): boolean {
  return (
    PREVIEWERS.test(headers.get('user-agent') ?? '') ||
    /prefetch|prerender/.test(headers.get('sec-purpose') ?? headers.get('purpose') ?? '')
  )
}
