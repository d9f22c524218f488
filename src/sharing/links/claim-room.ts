import type { LinkDownloader } from '../../domain/access.ts'
import type { PromisedBytes } from './byte-claims.ts'
import { type LinkClaim, WHOLE } from './link-claims.rows.ts'

/** How often all may be read at an address of a program without cookies: players seek back, and lines break. */
const MOST_READINGS = 4
/**
 * How much may be promised to an assumed visitor while something is missing: what was sent, a beginning that the program
 * is about to leave, and its parts.
 */
const MOST_WHILE_MISSING = 3
/**
 * How much with what has ended: less than half again, which is no download. It makes up for what was lost on the way when the
 * line broke.
 */
const MOST_ENDED = 1.5

/** How what is asked for next belongs to a claim: as more of it, or as its beginning, once again. */
export type Belonging = 'more' | 'again'

/**
 * How what is asked for next belongs to the claim; null for a download of its own. `promised`: in millionths. A visitor with
 * the cookie reads as often as they like. A claim of a program is of one file or zip.
 */
export function belonging(
  { sent, running, bytes }: Pick<LinkClaim, 'sent' | 'running' | 'bytes'>,
  { program, isAssumed }: LinkDownloader,
  { start, whole }: PromisedBytes,
  promised: number,
): Belonging | null {
  if (program === null) return 'more'
  const all = sent + promised
  if (!isAssumed) return all <= MOST_READINGS * WHOLE ? 'more' : null
  // From the first byte only what was broken off, and only once: afterwards it counts as sent.
  if (start === 0) return running === 0 && sent < WHOLE ? 'again' : null
  const isMissing = bytes < whole
  const ended = isMissing ? Math.floor((bytes / whole) * WHOLE) + promised : all
  return ended < MOST_ENDED * WHOLE && all < MOST_WHILE_MISSING * WHOLE ? 'more' : null
}
