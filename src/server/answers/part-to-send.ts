import { Refusal } from '../../domain/errors.ts'
import type { Call } from '../call.ts'
import { checkConditions, rangeApplies, type Validators } from './conditions.ts'
import { parseRange } from './ranges.ts'

/** `end` is exclusive. */
export interface ByteRangeToSend {
  readonly status: 200 | 206
  readonly start: number
  readonly end: number
}

const OF_THE_CONTENT = ['Content-Type', 'Content-Disposition', 'Repr-Digest']

/**
 * Answers GET and HEAD (RFC 9110): conditions, then ranges. Adds the range's headers to `headers`. A returned Response
 * is complete: HEAD or 304. Throws Refusal PRECONDITION_FAILED or RANGE_NOT_SATISFIABLE.
 */
export function partToSend(
  call: Call,
  size: number,
  validators: Validators,
  headers: Headers,
): ByteRangeToSend | Response {
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
  // Only for GET (RFC 9110 §14.2).
  const isRanged = method === 'GET' && rangeApplies(asked, validators)
  const range = parseRange(isRanged ? asked.get('range') : null, size)
  if (range.kind === 'unsatisfiable') {
    call.headers.set('Content-Range', `bytes */${size}`)
    throw new Refusal('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes; ask for a range within them`)
  }
  const part: ByteRangeToSend =
    range.kind === 'part'
      ? { status: 206, start: range.start, end: range.end }
      : { status: 200, start: 0, end: size }
  if (part.status === 206) headers.set('Content-Range', `bytes ${part.start}-${part.end - 1}/${size}`)
  headers.set('Content-Length', String(part.end - part.start))
  return method === 'HEAD' ? new Response(null, { status: part.status, headers }) : part
}
