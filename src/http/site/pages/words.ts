const whole = new Intl.NumberFormat('en')
const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** `1 file`, `1,204 files`. */
export function count(number: number, thing: string): string {
  return `${whole.format(number)} ${thing}${number === 1 ? '' : 's'}`
}

/** A whole number with its thousands marked. */
export function grouped(number: number): string {
  return whole.format(number)
}

/** The day of an ISO 8601 timestamp, in UTC: `12 March 2026`. */
export function day(iso: string): string {
  return date.format(new Date(iso))
}
