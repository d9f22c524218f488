import { type Call, FOLDER_COOKIE } from '../../server/call.ts'
import { cookieValue } from '../../server/requests/cookies.ts'
import type { LinkVisit } from './link-visitors.ts'

/** Names a browser at one link, from the first answer of a link that counts downloads. */
export const VISITOR_COOKIE = 'link_visitor'

const LATER_PART = /^bytes=([1-9]\d*-\d*|-\d+)$/

export function linkVisit({ request, bucket, params }: Call): LinkVisit {
  return {
    slug: params.link ?? '',
    passwords: cookieValue(request, FOLDER_COOKIE),
    name: cookieValue(request, VISITOR_COOKIE),
    program: `${bucket}\n${request.headers.get('user-agent') ?? ''}`,
    isLaterPart: LATER_PART.test(request.headers.get('range') ?? ''),
  }
}
