import { Refusal } from '../../domain/errors.ts'
import { wholeNumber } from '../../domain/ids.ts'
import type { Call } from '../call.ts'

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

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)'
const FORMS = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^[a-z]{3}, (?<day>\\d\\d) (?<month>[a-z]{3}) (?<year>\\d{4}) ${TIME} GMT$`, 'i'),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^[a-z]{6,9}, (?<day>\\d\\d)-(?<month>[a-z]{3})-(?<year>\\d\\d) ${TIME} GMT$`, 'i'),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`, 'i'),
]

/** Seconds since the epoch, in the formats of RFC 9110 §5.6.7 only: `Date.parse` accepts even a bare year. */
export function parseHttpDate(text: string): number | null {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups
    if (parts !== undefined) return toSeconds(parts)
  }
  return null
}

function toSeconds(parts: Readonly<Record<string, string | undefined>>): number | null {
  const number = (part: string): number => Number(parts[part])
  const month = MONTHS.indexOf((parts.month ?? '').toLowerCase())
  const [day, hour, minute] = [number('day'), number('hour'), number('minute')]
  // Leap second 60 counts as 59.
  const second = Math.min(number('second'), 59)
  if (month < 0 || hour > 23 || minute > 59 || number('second') > 60) return null
  const moment = new Date(0)
  moment.setUTCFullYear(fullYear(parts.year ?? ''), month, day)
  if (moment.getUTCDate() !== day) return null
  return moment.setUTCHours(hour, minute, second) / 1000
}

/** 1970 to 2069: no file is older, and no client sends a date that far ahead. */
function fullYear(digits: string): number {
  const year = Number(digits)
  if (digits.length === 4) return year
  return year >= 70 ? 1900 + year : 2000 + year
}

export interface Validators {
  /** With quotes. */
  readonly etag: string
  /**
   * Milliseconds since the epoch, compared in seconds as in HTTP. Null when no date reflects every change: date
   * conditions are then ignored, and If-Range with a date never matches.
   */
  readonly lastModified: number | null
}

type ConditionOutcome = 'send' | 'not-modified' | 'precondition-failed'

/**
 * For GET and HEAD in the order of RFC 9110 §13.2.2: If-Match, else If-Unmodified-Since; If-None-Match, else
 * If-Modified-Since. Ignores malformed dates; a malformed entity tag matches nothing.
 */
export function checkConditions(headers: Headers, validators: Validators): ConditionOutcome {
  const ifMatch = headers.get('If-Match')
  if (ifMatch !== null) {
    if (!matches(ifMatch, validators.etag, strongly)) return 'precondition-failed'
  } else if (changedSince(headers.get('If-Unmodified-Since'), validators) === true) {
    return 'precondition-failed'
  }

  const ifNoneMatch = headers.get('If-None-Match')
  if (ifNoneMatch !== null) return matches(ifNoneMatch, validators.etag, weakly) ? 'not-modified' : 'send'
  return changedSince(headers.get('If-Modified-Since'), validators) === false ? 'not-modified' : 'send'
}

/** RFC 9110 §13.1.5: without If-Range, with the current entity tag (strong comparison), or with the current date. */
export function rangeApplies(headers: Headers, validators: Validators): boolean {
  const ifRange = headers.get('If-Range')
  if (ifRange === null) return true
  if (strongly(ifRange, validators.etag)) return true
  const { lastModified } = validators
  return lastModified !== null && parseHttpDate(ifRange) === inSeconds(lastModified)
}

function changedSince(date: string | null, { lastModified }: Validators): boolean | null {
  const seconds = date === null ? null : parseHttpDate(date)
  return seconds === null || lastModified === null ? null : inSeconds(lastModified) > seconds
}

function inSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

type Comparison = (a: string, b: string) => boolean

const strongly: Comparison = (a, b) => a === b && !a.startsWith('W/')
const weakly: Comparison = (a, b) => opaque(a) === opaque(b)

function opaque(etag: string): string {
  return etag.replace(/^W\//, '')
}

/** Tags may contain commas, so the list is not split. */
function matches(list: string, etag: string, equal: Comparison): boolean {
  if (list.trim() === '*') return true
  const tags = list.match(/(?:W\/)?"[\x21\x23-\x7E\x80-\xFF]*"/g) ?? []
  return tags.some((tag) => equal(tag, etag))
}

/** `end` is exclusive. */
type RequestedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE = { kind: 'whole' } as const
const UNSATISFIABLE = { kind: 'unsatisfiable' } as const

/**
 * RFC 9110 §14.2. Ignores missing or malformed headers and other units; answers several ranges with the whole content,
 * as allowed. `size`: bytes.
 *
 * Skips blanks, and a range beyond the end is unsatisfiable even if it ends before its start: Bun parses ranges of file
 * requests so, and the two must agree.
 */
export function parseRange(header: string | null, size: number): RequestedRange {
  const set = /^bytes[ \t]*=([\d \t,-]+)$/i.exec(header ?? '')?.[1]
  if (set === undefined) return WHOLE
  // Empty list elements (RFC 9110 §5.6.1).
  const specs = set
    .split(',')
    .map((spec) => spec.trim())
    .filter((spec) => spec !== '')
  const [spec, another] = specs
  if (spec === undefined || another !== undefined) return WHOLE

  const [, first, last] = /^(\d*)[ \t]*-[ \t]*(\d*)$/.exec(spec) ?? []
  if (first === undefined || last === undefined) return WHOLE
  const from = wholeNumber(first)
  const to = wholeNumber(last)
  if (from !== null) return between(from, to ?? Number.POSITIVE_INFINITY, size)
  return to === null ? WHOLE : suffix(to, size)
}

function between(first: number, last: number, size: number): RequestedRange {
  if (first >= size) return UNSATISFIABLE
  if (last < first) return WHOLE
  return { kind: 'part', start: first, end: Math.min(last + 1, size) }
}

/** A longer suffix selects the whole content, even if empty, which no Content-Range can express. */
function suffix(length: number, size: number): RequestedRange {
  if (length === 0) return UNSATISFIABLE
  return size === 0 ? WHOLE : { kind: 'part', start: Math.max(0, size - length), end: size }
}
