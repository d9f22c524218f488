import type { LinkDownloader } from '../../domain/access.ts'
import type { PromisedBytes } from './byte-claims.ts'
import { type Claim, WHOLE } from './link-claims.rows.ts'

/** How often all may be read at an address of a program without cookies: players seek back, and lines break. */
const MOST_READINGS = 4
/**
 * How much may be promised to an assumed visitor while something is missing: what was sent, a beginning that the program
 * is about to leave, and its parts.
 */
const MOST_WHILE_MISSING = 2.5
/**
 * How much when all was sent: less than half again, which is no download. It makes up for what was lost on the way when the
 * line broke.
 */
const MOST_AFTERWARDS = 1.5

/**
 * Whether what is asked for next belongs to the claim; what does not is a download of its own. `promised`: in millionths.
 * A visitor with the cookie reads as often as they like. A claim of a program is of one file or zip.
 */
export function hasRoom(
  { sent, running, bytes }: Pick<Claim, 'sent' | 'running' | 'bytes'>,
  { program, isAssumed }: LinkDownloader,
  { start, whole }: PromisedBytes,
  promised: number,
): boolean {
  if (program === null) return true
  const all = sent + promised
  if (!isAssumed) return all <= MOST_READINGS * WHOLE
  // From the first byte only what was broken off, and only once.
  if (start === 0) return running === 0 && sent < WHOLE
  return all < (bytes < whole ? MOST_WHILE_MISSING : MOST_AFTERWARDS) * WHOLE
}
