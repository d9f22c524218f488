import { Refusal } from './errors.ts'
import { INVISIBLE, isLongerThan, RAW_FACTOR } from './text.ts'

export const NOTICE_LEVELS = ['info', 'warning'] as const

export type NoticeLevel = (typeof NOTICE_LEVELS)[number]

/** Plain text from administrators, on every page. */
export interface Notice {
  readonly text: string
  readonly level: NoticeLevel
  /** Milliseconds since the epoch; null: at once. */
  readonly from: number | null
  readonly until: number | null
}

export const MAX_NOTICE = 500

/** On one line, cleaned. Throws Refusal INVALID_REQUEST for an empty or too long text, or an end before the start. */
export function parseNotice(notice: Notice): Notice {
  if (isLongerThan(notice.text, RAW_FACTOR * MAX_NOTICE)) throw tooLong()
  const text = notice.text
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .replace(INVISIBLE, '')
    .trim()
    .normalize('NFC')
  if (text === '') throw new Refusal('INVALID_REQUEST', '"text": must not be empty')
  if (text.length > MAX_NOTICE) throw tooLong()
  const { from, until } = notice
  if (until !== null && from !== null && until <= from) {
    throw new Refusal('INVALID_REQUEST', '"until": must be later than "from"')
  }
  return { ...notice, text }
}

function tooLong(): Refusal {
  return new Refusal('INVALID_REQUEST', `"text": may have ${MAX_NOTICE} characters at most`)
}

export function isDue({ from, until }: Notice, now: number): boolean {
  return (from === null || from <= now) && (until === null || now < until)
}
