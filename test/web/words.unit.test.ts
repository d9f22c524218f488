import { expect, test } from 'bun:test'
import { createWords, zoneHere } from '../../web/shared/words.ts'

/** The end of 31 December 2026 where somebody chose that day, and of days on which clocks change. */
const ENDS = [
  ['America/New_York', '2027-01-01T04:59:59.999Z', '31 December 2026'],
  ['Pacific/Kiritimati', '2026-12-31T09:59:59.999Z', '31 December 2026'],
  ['UTC', '2026-12-31T23:59:59.999Z', '31 December 2026'],
  ['Europe/Berlin', '2026-03-29T21:59:59.999Z', '29 March 2026'],
  ['Europe/Berlin', '2026-10-25T22:59:59.999Z', '25 October 2026'],
  ['America/New_York', '2026-11-02T04:59:59.999Z', '1 November 2026'],
] as const

test.each(ENDS)('the last day of something is the day that was chosen in %s: %s', (zone, end, day) => {
  expect(createWords('en-GB', zone).day(end)).toBe(day)
})

test('a moment names its zone', () => {
  expect(createWords('en-GB', 'UTC').moment('2026-12-31T23:59:59.999Z')).toBe('31 December 2026 at 23:59 UTC')
  expect(zoneHere()).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone)
})
