import { type Call, FOLDER_COOKIE } from '../../server/call.ts'
import { cookieValue } from '../../server/requests/cookies.ts'
import type { LinkVisit } from './link-visitors.ts'

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
