import { Refusal } from '../domain/errors.ts'
import { malformed, parseParameters } from './part-headers.ts'

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const HYPHEN = 45

/**
 * RFC 2046, section 5.1.1. Tolerates characters that should be quoted, as many programs send them. Throws Refusal
 * INVALID_REQUEST for another type or an invalid boundary.
 */
export function parseBoundary(contentType: string | null): string {
  const { value, parameters } = parseParameters(contentType ?? '') ?? {}
  if (parameters === undefined) throw new Refusal('INVALID_REQUEST', 'The Content-Type cannot be read')
  if (value !== 'multipart/form-data') {
    throw new Refusal('INVALID_REQUEST', 'The Content-Type must be multipart/form-data')
  }
  const boundary = parameters.get('boundary') ?? ''
  if (!/^[ -~]{0,69}[!-~]$/.test(boundary)) {
    throw new Refusal('INVALID_REQUEST', 'The Content-Type must name a boundary of 1 to 70 characters')
  }
  return boundary
}

/** `part`, `closed` and `content` are final. */
export type BoundaryLine = 'bare' | 'padding' | 'cr' | 'hyphen' | 'closing' | 'part' | 'closed' | 'content'

/** RFC 2046: padding and CRLF; or two hyphens, padding, line break or end. Throws Refusal for a bare CR or LF. */
export function readBoundaryLine(line: BoundaryLine, byte: number): BoundaryLine {
  const open = line === 'bare' || line === 'padding'
  if (line === 'cr') {
    if (byte === LF) return 'part'
    throw malformed('a bare CR ends a boundary line')
  }
  if (byte === SPACE || byte === TAB) {
    if (open) return 'padding'
    return line === 'closing' ? 'closing' : 'content'
  }
  if (byte === HYPHEN) {
    if (line === 'bare') return 'hyphen'
    return line === 'hyphen' ? 'closing' : 'content'
  }
  if (line === 'closing' && (byte === CR || byte === LF)) return 'closed'
  if (open && byte === CR) return 'cr'
  if (open && byte === LF) throw malformed('a bare LF ends a boundary line')
  return 'content'
}
