import { expect, test } from 'bun:test'
import { paceOf } from '../../../src/operations/integrity/pace.ts'

test('a pace lets no more bytes through than its rate allows, and saves nothing up', async () => {
  let now = 0
  const waits: number[] = []
  const pace = paceOf(1000, {
    monotonic: () => now,
    after(milliseconds, call) {
      waits.push(milliseconds)
      const until = now + milliseconds
      queueMicrotask(() => {
        now = Math.max(now, until)
        call()
      })
      return () => {}
    },
  })
  for (const bytes of [500, 250, 1]) await pace(bytes)
  expect(waits).toEqual([500, 250, 1])
  now += 60_000
  await Promise.all([pace(100), pace(100)])
  expect(waits.slice(3)).toEqual([100, 200])
})
