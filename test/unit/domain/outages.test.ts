import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { endAfter, mergeOutages, outagesUntil, startBefore } from '../../../src/core/outages.ts'

const moment = fc.integer({ min: 0, max: 60 })
const outage = fc.tuple(moment, moment).map(([one, other]) => ({
  began: Math.min(one, other),
  ended: Math.max(one, other),
}))

test('what an index finds and what a page says agree to the millisecond, whatever outages there were', () => {
  fc.assert(
    fc.property(
      fc.array(outage, { maxLength: 5 }),
      fc.integer({ min: 0, max: 70 }),
      moment,
      (all, now, lasts) => {
        const outages = outagesUntil(now, mergeOutages(all))
        const isOut = (time: number) => all.some(({ began, ended }) => began <= time && time < ended)
        const cutoff = startBefore(now, lasts, outages)
        for (let start = 0; start <= now; start++) {
          let ran = 0
          for (let time = start; time < now; time++) if (!isOut(time)) ran++
          expect(start < cutoff).toBe(ran > lasts)
          expect(endAfter(start, lasts, outages) < now).toBe(ran > lasts)
        }
      },
    ),
  )
})

test('an outage counts that begins with the last moment of a lifetime, and none that ends with its first', () => {
  const outage = { began: 10, ended: 15 }
  expect(endAfter(0, 10, [outage])).toBe(15)
  expect(endAfter(15, 10, [outage])).toBe(25)
  expect(startBefore(15, 10, [outage])).toBe(0)
  expect(startBefore(25, 10, [outage])).toBe(10)
})
