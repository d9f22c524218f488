import { parseHttpDate } from './http-date.ts'

export interface Validators {
  /** With quotes. */
  readonly etag: string
  /**
   * Milliseconds since the epoch, compared in seconds as in HTTP. Null when no date reflects every change: date
   * conditions are then ignored, and If-Range with a date never matches.
   */
  readonly lastModified: number | null
}

export type ConditionOutcome = 'send' | 'not-modified' | 'precondition-failed'

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
