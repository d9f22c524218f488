/** A world is the same each time; worlds.test.ts has many. */
import { expect, test } from 'bun:test'
import { runWorld } from './world.ts'

test('a world is the same each time, to the last step, and all is well in it', async () => {
  const first = await runWorld(5)
  const again = await runWorld(5)
  expect(first.kills).toBeGreaterThan(0)
  expect(first.faults).toBeGreaterThan(0)
  expect(again.trace.join('\n')).toBe(first.trace.join('\n'))
  expect(first.problems).toEqual([])
})
