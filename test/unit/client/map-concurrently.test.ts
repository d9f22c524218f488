import { expect, test } from 'bun:test'
import { mapConcurrently } from '../../../src/client/map-concurrently.ts'

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) yield number
}

test('so many are worked on at once, never more, and what comes of them is taken in order', async () => {
  const ends: (() => void)[] = []
  let running = 0
  let most = 0
  const work = async (number: number) => {
    running += 1
    most = Math.max(most, running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running -= 1
    return number
  }
  const taken: number[] = []
  const all = mapConcurrently(numbers(10), 3, work, (number) => taken.push(number))
  for (let ended = 0; ended < 10; ended++) {
    while (running < Math.min(3, 10 - ended)) await Promise.resolve()
    // The last of those under way ends first.
    ends.pop()?.()
    while (running === Math.min(3, 10 - ended)) await Promise.resolve()
  }
  await all
  expect(most).toBe(3)
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('no item is asked for before there is room for it', async () => {
  let asked = 0
  async function* items(): AsyncGenerator<number> {
    for (; asked < 5; asked++) yield asked
  }
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => ends.push(resolve))
  const all = mapConcurrently(items(), 2, work, () => {})
  await Bun.sleep(1)
  expect([asked, ends.length]).toEqual([1, 2])
  while (asked < 5 || ends.length > 0) {
    ends.shift()?.()
    await Bun.sleep(0)
  }
  await all
})

test('what fails first is thrown when what is under way has ended, and nothing more is begun', async () => {
  const begun: number[] = []
  const ended: number[] = []
  const work = async (number: number) => {
    begun.push(number)
    if (number === 1) throw new Error('one')
    await Promise.resolve()
    ended.push(number)
  }
  await expect(mapConcurrently(numbers(100), 2, work, () => {})).rejects.toThrow('one')
  expect(ended).toEqual(begun.filter((number) => number !== 1))
  expect(begun.length).toBeLessThan(10)
})
