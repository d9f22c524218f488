import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { BUSY, createDiskLoad, linuxDiskPressure } from '../../../../src/contents/pace.ts'
import { MINUTE, SECOND, type Timers } from '../../../../src/domain/clock.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'

/** Time that passes only while somebody waits. */
function fleetingTime() {
  let now = 0
  const timers: Timers = {
    monotonic: () => now,
    after(milliseconds, call) {
      const until = now + milliseconds
      queueMicrotask(() => {
        now = Math.max(now, until)
        call()
      })
      return () => {}
    },
  }
  return { timers, now: () => now, pass: (milliseconds: number) => (now += milliseconds) }
}

describe('what waits for a quiet disk', () => {
  test('goes on once it is not busy any more, and is said to wait meanwhile', async () => {
    const time = fleetingTime()
    const waited: boolean[] = []
    const load = createDiskLoad(async () => {
      waited.push(load.isWaitedFor())
      return time.now() < 5 * SECOND ? BUSY : BUSY - 0.01
    }, time.timers)
    expect(await load.quiet(() => true)).toBe(true)
    expect(time.now()).toBe(5 * SECOND)
    expect(waited).toEqual([false, true, true, true, true, true])
    expect(load.isWaitedFor()).toBe(false)
  })

  test('gives up after a minute, or when it may not go on', async () => {
    const time = fleetingTime()
    const load = createDiskLoad(async () => 1, time.timers)
    expect(await load.quiet(() => true)).toBe(false)
    expect(time.now()).toBe(MINUTE)
    expect(await load.quiet(() => false)).toBe(false)
    expect(time.now()).toBe(MINUTE)
    expect(load.isWaitedFor()).toBe(true)
    // Another node has the job now.
    time.pass(2 * MINUTE)
    expect(load.isWaitedFor()).toBe(false)
  })

  test('asks once a second at most', async () => {
    const time = fleetingTime()
    let asked = 0
    const load = createDiskLoad(async () => {
      asked++
      return 0
    }, time.timers)
    await Promise.all([load.isBusy(), load.quiet(() => true)])
    expect(asked).toBe(1)
    time.pass(SECOND)
    expect(await load.isBusy()).toBe(false)
    expect(asked).toBe(2)
  })

  test('never waits where the pressure is not known', async () => {
    const time = fleetingTime()
    expect(await createDiskLoad(async () => null, time.timers).quiet(() => true)).toBe(true)
    expect(time.now()).toBe(0)
  })
})

test('the pressure is what Linux says of the last ten seconds, and unknown elsewhere', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'io')
  await Bun.write(
    file,
    'some avg10=41.80 avg60=7.27 avg300=3.65 total=274614506\nfull avg10=12.00 avg60=0.00 avg300=0.04 total=54519085\n',
  )
  expect(await linuxDiskPressure(file)).toBeCloseTo(0.418)
  await Bun.write(file, '')
  expect(await linuxDiskPressure(file)).toBeNull()
  expect(await linuxDiskPressure(`${file}-missing`)).toBeNull()
})
