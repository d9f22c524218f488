import { Refusal } from './errors.ts'
import { INVISIBLE, isLongerThan, RAW_FACTOR } from './text.ts'

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

export const REPORT_STATES = ['open', 'dismissed', 'taken_down'] as const

export type ReportState = (typeof REPORT_STATES)[number]

export const MAX_REPORT_TEXT = 2000

export function reportReason(text: string): ReportReason | null {
  return REPORT_REASONS.find((reason) => reason === text) ?? null
}

/**
 * Without control and bidirectional characters and surrounding empty lines, so that terminals and pages show the same.
 * Null for an empty text. Throws Refusal INVALID_REQUEST over 2,000 UTF-16 units, which browsers count.
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
