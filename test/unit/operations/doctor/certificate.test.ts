import { expect, test } from 'bun:test'
import { DAY, HOUR } from '../../../../src/domain/clock.ts'
import { certificate } from '../../../../src/operations/doctor/public-address.ts'

const NOW = Date.UTC(2026, 10, 28)

/** What a certificate of that lifetime is with so much of it left. */
const level = (lifetime: number, left: number) =>
  certificate({ fault: null, beganAt: NOW + left - lifetime, endsAt: NOW + left }, NOW).level

test.each([
  ['twelve hours', 12 * HOUR, { renewedAt: 4 * HOUR, late: HOUR }],
  ['six days', 160 * HOUR, { renewedAt: 53 * HOUR, late: 20 * HOUR }],
  ['90 days', 90 * DAY, { renewedAt: 30 * DAY, late: 13 * DAY }],
  ['a year', 365 * DAY, { renewedAt: 15 * DAY, late: 13 * DAY }],
])(
  'a certificate of %s is a fault only when it should have been renewed',
  (_, lifetime, { renewedAt, late }) => {
    expect(level(lifetime, lifetime)).toBe('ok')
    expect(level(lifetime, renewedAt)).toBe('ok')
    expect(level(lifetime, late)).toBe('problem')
  },
)

test('what is left of a certificate is told in days, and near its end in hours', () => {
  const says = (left: number) =>
    certificate({ fault: null, beganAt: NOW - 90 * DAY, endsAt: NOW + left }, NOW).what
  expect(says(40 * DAY + HOUR)).toBe('the certificate is valid for 40 more days')
  expect(says(30 * HOUR)).toBe('the certificate ends in 30 hours')
})
