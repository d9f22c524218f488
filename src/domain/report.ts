import { Refusal } from './errors.ts'
import { INVISIBLE } from './invisible-characters.ts'
import { isLongerThan, RAW_FACTOR } from './measured-text.ts'

/** Closed list of reasons for reporting a file. */
export const REPORT_REASONS = [
  'child_abuse',
  'illegal',
  'malware',
  'privacy',
  'copyright',
  'spam',
  'other',
] as const

export type ReportReason = (typeof REPORT_REASONS)[number]

/** `open` until an administrator decides. */
export const REPORT_STATES = ['open', 'dismissed', 'taken_down'] as const

export type ReportState = (typeof REPORT_STATES)[number]

export const MAX_REPORT_TEXT = 2000

/** The reason with that name, or null. */
export function reportReason(text: string): ReportReason | null {
  return REPORT_REASONS.find((reason) => reason === text) ?? null
}

/**
 * Text of a report: without control and bidirectional characters and without surrounding empty lines, so that
 * a terminal shows the same as a page. Null when nothing is left. Throws Refusal INVALID_REQUEST over 2,000
 * characters, counted in UTF-16 units as browsers do.
 */
export function parseReportText(raw: string | null | undefined): string | null {
  if (isLongerThan(raw ?? '', RAW_FACTOR * MAX_REPORT_TEXT)) throw tooLong()
  const lines = (raw ?? '').toWellFormed().split(/\r\n?|\n/)
  const text = lines
    .map((line) => line.replaceAll('\t', ' ').replace(INVISIBLE, '').trimEnd())
    .join('\n')
    .trim()
  if (text.length > MAX_REPORT_TEXT) throw tooLong()
  return text === '' ? null : text
}

function tooLong(): Refusal {
  return new Refusal('INVALID_REQUEST', `"text": may have ${MAX_REPORT_TEXT} characters at most`)
}
