import { expect, test } from 'bun:test'
import { createClockGuard } from '../../../src/core/core.ts'
import { DAY, HOUR } from '../../../src/domain/clock.ts'
import { handClock } from '../../support/hand-clock.ts'

test('clocks agree from the start on, and a leap of an hour either way is none', () => {
  const clock = handClock()
  const guard = createClockGuard(clock)
  expect(guard.agreedFor()).toBe(0)
  clock.advance(DAY)
  for (const leap of [HOUR, -HOUR]) {
    clock.leap(leap)
    expect(guard.agreedFor()).toBe(DAY)
  }
})

test.each([1, -1])('a leap of more than an hour begins anew, once (direction %d)', (direction) => {
  const clock = handClock()
  const guard = createClockGuard(clock)
  clock.advance(DAY)
  clock.leap(direction * (HOUR + 1))
  expect(guard.agreedFor()).toBe(0)
  clock.advance(HOUR)
  expect(guard.agreedFor()).toBe(HOUR)
  clock.leap(-direction * (HOUR + 1))
  expect(guard.agreedFor()).toBe(0)
})
