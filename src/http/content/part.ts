import { Refusal } from '../../domain/errors.ts'
import type { Call } from '../call.ts'
import { checkConditions, rangeApplies, type Validators } from './conditions.ts'
import { parseRange } from './ranges.ts'

/** What of a content goes out, and under which status. `end` is exclusive. */
export interface Part {
  readonly status: 200 | 206
  readonly start: number
  readonly end: number
}

/** Headers that say what the content is, which an answer without one does not have. */
const OF_THE_CONTENT = ['Content-Type', 'Content-Disposition', 'Repr-Digest']

/**
 * Which part of a content of `size` bytes a GET or HEAD is to be answered with (RFC 9110): conditions, then ranges.
 * `headers`, which are those of the answer, get what belongs to the part. A Response is the whole answer already: to a
 * HEAD, or that nothing has changed. Throws Refusal PRECONDITION_FAILED or RANGE_NOT_SATISFIABLE.
 */
export function partToSend(
  call: Call,
  size: number,
  validators: Validators,
  headers: Headers,
): Part | Response {
  const { method, headers: asked } = call.request
  switch (checkConditions(asked, validators)) {
    case 'not-modified':
      for (const name of OF_THE_CONTENT) headers.delete(name)
      return new Response(null, { status: 304, headers })
    case 'precondition-failed':
      throw new Refusal('PRECONDITION_FAILED', 'The content is not the one that the request names')
    case 'send':
      break
  }
  // Ranges are defined for GET alone (RFC 9110 §14.2).
  const isRanged = method === 'GET' && rangeApplies(asked, validators)
  const range = parseRange(isRanged ? asked.get('range') : null, size)
  if (range.kind === 'unsatisfiable') {
    call.headers.set('Content-Range', `bytes */${size}`)
    throw new Refusal('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes; ask for a range within them`)
  }
  const part: Part =
    range.kind === 'part'
      ? { status: 206, start: range.start, end: range.end }
      : { status: 200, start: 0, end: size }
  if (part.status === 206) headers.set('Content-Range', `bytes ${part.start}-${part.end - 1}/${size}`)
  headers.set('Content-Length', String(part.end - part.start))
  return method === 'HEAD' ? new Response(null, { status: part.status, headers }) : part
}
