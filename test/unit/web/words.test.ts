import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { dayFormat, isoDay, isoMoment, zoneHere } from '../../../src/domain/days.ts'
import { createWords } from '../../../web/shared/words.ts'

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

describe('two opinions of one fact: the day of 23:30 UTC', () => {
  const time = Date.parse('2026-12-31T23:30:00Z')
  const readers = [
    ['America/New_York', '2026-12-31 18:30:00', '31 December 2026', '31 Dec 2026', '31 Dec'],
    ['UTC', '2026-12-31 23:30:00', '31 December 2026', '31 Dec 2026', '31 Dec'],
    ['Pacific/Auckland', '2027-01-01 12:30:00', '1 January 2027', '1 Jan 2027', '1 Jan'],
  ] as const

  test.each(readers)('is one in %s, however it is written', (zone, moment, long, medium, short) => {
    expect([isoMoment(time, zone), isoDay(time, zone)]).toEqual([moment, moment.slice(0, 10)])
    expect(createWords('en-GB', zone).day(new Date(time).toISOString())).toBe(long)
    expect(dayFormat('en-GB', zone)(time)).toBe(long)
    expect(dayFormat('en-GB', zone, 'medium')(time)).toBe(medium)
    expect(dayFormat('en-GB', zone, 'short')(time)).toBe(short)
  })

  test('is told by one file of the sources', async () => {
    // HTTP dates and ZIP entries have days of formats of their own; the list of uploads tells the time of the day alone.
    const others = [
      'src/domain/days.ts',
      'src/server/answers/part-to-send.ts',
      'src/downloads/zip/zip-records.ts',
    ]
    const telling = /dateStyle|toLocaleDateString|\.get(UTC)?(Date|Month|FullYear)\(|toISOString\(\)\.slice/
    const found: string[] = []
    for await (const path of new Bun.Glob('{src,web}/**/*.{ts,tsx}').scan(
      join(import.meta.dir, '../../..'),
    )) {
      const isOther = others.includes(path) || path === 'src/domain/clock.ts'
      if (!isOther && telling.test(await Bun.file(join(import.meta.dir, '../../..', path)).text()))
        found.push(path)
    }
    expect(found).toEqual([])
  })
})

test('a moment names its zone', () => {
  expect(createWords('en-GB', 'UTC').moment('2026-12-31T23:59:59.999Z')).toBe('31 December 2026 at 23:59 UTC')
  expect(zoneHere()).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone)
})
