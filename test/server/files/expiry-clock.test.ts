/** When files are purged that nobody uses, whatever becomes of the clock meanwhile. */
// Only in test:all: clocks that jump; expiry.test.ts has the rule.
// Only on a folder: is about how far a node believes its own clock, which the nodes of a test share.
import { describe, expect, test } from 'bun:test'
import { DAY, HOUR } from '../../../src/domain/clock.ts'
import { upload } from '../../support/clients/public.ts'
import { account, notYetPurged, pass, withOwner } from '../../support/servers/expiry.ts'
import type { TestHoldfast } from '../../support/servers/holdfast.ts'

describe('purging', () => {
  type Step = (host: TestHoldfast) => Promise<void>
  const wait =
    (time: number): Step =>
    (host) =>
      pass(host, time, 2 * HOUR)
  const leap =
    (time: number): Step =>
    async (host) => {
      host.clock.leap(time)
      await host.runJobs()
    }
  const start: Step = (host) => host.restart()

  const courses: readonly [string, readonly Step[], number][] = [
    ['begins 24 hours after the mark', [wait(25 * HOUR)], 0],
    ['waits for 24 hours after the mark', [wait(23 * HOUR)], 1],
    ['waits for 24 hours after a leap forward', [wait(12 * HOUR), leap(2 * HOUR), wait(23 * HOUR)], 1],
    ['waits for 24 hours after a leap back', [wait(22 * HOUR), leap(-2 * HOUR), wait(23 * HOUR)], 1],
    [
      'waits for 24 hours after the last of two leaps',
      [leap(DAY), wait(20 * HOUR), leap(-DAY), wait(23 * HOUR)],
      1,
    ],
    ['goes on 24 hours after a leap', [wait(12 * HOUR), leap(2 * HOUR), wait(26 * HOUR)], 0],
    [
      'does not mind a clock put right by half an hour',
      [wait(12 * HOUR), leap(HOUR / 2), wait(13 * HOUR)],
      0,
    ],
    ['waits for 24 hours after a start', [wait(20 * HOUR), start, wait(23 * HOUR)], 1],
    ['goes on 24 hours after a start', [start, wait(26 * HOUR)], 0],
  ]
  test.each(courses)('%s', async (_name, steps, left) => {
    await withOwner({}, async (host, key) => {
      await upload(host, { key })
      await pass(host, 60 * DAY, 60 * DAY)
      expect((await account(host, key)).files_count).toBe(0)
      for (const step of steps) await step(host)
      expect(await notYetPurged(host, key)).toBe(left)
    })
  })
})
