import type { LinkDownloader } from '../../domain/access.ts'
import type { PromisedBytes } from './byte-claims.ts'
import { type LinkClaim, WHOLE } from './link-claims.rows.ts'

/** Reads of the whole by a program without cookies: players seek back, and connections break. */
const MOST_READINGS = 4
/**
 * Wholes promised to such a program while something is missing: what was sent, a beginning that it is about
 * to abort, and its ranges.
 */
const MOST_WHILE_MISSING = 3
/**
 * Wholes promised, including ended transfers. Makes up for bytes lost when a connection broke; less than half
 * a whole more, so no second download.
 */
const MOST_ENDED = 1.5

export type Belonging = 'more' | 'again'

/**
 * How a request belongs to the claim; null for a new download. `promised`: in millionths. A visitor with the
 * cookie reads without limit. A program's claim covers one file or zip.
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
  // A restart at byte 0 only after an interruption, and once: it counts as sent afterwards.
  if (start === 0) return running === 0 && sent < WHOLE ? 'again' : null
  const isMissing = bytes < whole
  const ended = isMissing ? Math.floor((bytes / whole) * WHOLE) + promised : all
  return ended < MOST_ENDED * WHOLE && all < MOST_WHILE_MISSING * WHOLE ? 'more' : null
}
