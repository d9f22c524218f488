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
