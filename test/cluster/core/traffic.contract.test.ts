/** What is counted of the days, when numbers come that no database takes. */
import { describe, expect, test } from 'bun:test'
import { daysSince } from '../../../src/core/figures.rows.ts'
import { createTrafficCounter } from '../../../src/core/traffic.ts'
import { DAY } from '../../../src/domain/clock.ts'
import { createStatistics } from '../../../src/operations/statistics.ts'
import { databases } from '../../support/databases/databases.ts'
import { handClock } from '../../support/hand-clock.ts'

const TOO_MUCH = 2 ** 63

describe.each(databases('traffic'))('traffic on %s', (_, open) => {
  test('of a day that cannot be written keeps no other day from being written', async () => {
    await using database = await open()
    const clock = handClock()
    const traffic = createTrafficCounter(database.db, clock)
    traffic.received(TOO_MUCH)
    clock.advance(DAY)
    traffic.received(7)
    await expect(traffic.flush()).rejects.toThrow()
    traffic.received(1)
    await traffic.flush()
    const days = await daysSince(database.db, '2000-01-01')
    expect(days.map(({ bytes_in }) => bytes_in)).toEqual([8])
  })

  test('that cannot be written is reported, and what is written is shown', async () => {
    await using database = await open()
    const clock = handClock()
    const traffic = createTrafficCounter(database.db, clock)
    const reported: unknown[] = []
    const statistics = createStatistics({
      config: { trustedProxies: [] },
      db: database.db,
      traffic,
      freeSpace: async () => null,
      clock,
      report: (error) => reported.push(error),
    })
    traffic.sent(5)
    await traffic.flush()
    traffic.sent(TOO_MUCH)
    const { days } = await statistics.read(1)
    expect(days.map(({ bytes_out }) => bytes_out)).toEqual([5])
    expect(reported).toHaveLength(1)
  })
})
