/** Worlds of callers, faults, kills and leaps of the clock, each from a number. */
// Only in test:all: two hundred worlds; world.test.ts has one.
import { expect, test } from 'bun:test'
import { runWorlds } from './worlds.ts'

const WORLDS = 200
const OF_A_TEST = 20

/** Several tests, since each has its limit of time. */
const firsts = Array.from({ length: WORLDS / OF_A_TEST }, (_, at) => at * OF_A_TEST + 1)

test.each(firsts)(
  'whatever fails, stalls, is killed or leaps: what was promised holds, and nothing is left: worlds from %d on',
  async (first) => {
    const figures = await runWorlds({ worlds: OF_A_TEST, first })
    expect(figures.kills).toBeGreaterThan(0)
    expect(figures.acknowledged).toBeGreaterThan(0)
  },
)
