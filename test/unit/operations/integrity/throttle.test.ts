import { expect, test } from 'bun:test'
import { createThrottle } from '../../../../src/contents/pace.ts'

test('a throttle lets no more bytes through than its rate allows, and saves nothing up', async () => {
  let now = 0
  const waits: number[] = []
  const throttle = createThrottle(1000, {
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
  for (const bytes of [500, 250, 1]) await throttle(bytes)
  expect(waits).toEqual([500, 250, 1])
  now += 60_000
  await Promise.all([throttle(100), throttle(100)])
  expect(waits.slice(3)).toEqual([100, 200])
})
