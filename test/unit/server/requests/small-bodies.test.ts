/** How much of bodies may be on its way into memory, of one address and of all together. */
import { expect, test } from 'bun:test'
import { systemClock } from '../../../../src/domain/clock.ts'
import { createSmallBodies, SMALL_BODIES, type SmallBody } from '../../../../src/server/requests/body.ts'

const CEILING = { all: { holders: 5, size: 500 }, each: { holders: 3, size: 300 }, kept: 0, idleAfter: 5000 }

/** A body that comes in pieces of these lengths, and then waits. */
const source = (...lengths: readonly number[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const length of lengths) controller.enqueue(new Uint8Array(length))
    },
  })

const bodies = () => createSmallBodies(systemClock, CEILING)

async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
    return null
  } catch (error) {
    return Object(error).code
  }
}

const at = (address: string) => ({ networks: [address], isKnown: false })

const busy = { code: 'SERVER_BUSY', retryAfter: 5 }

test('the number of bodies ends for one address, and for all together', () => {
  const small = bodies()
  const held: SmallBody[] = []
  const begin = (address: string) => held.push(small.begin(source(), at(address)))
  for (let at = 0; at < 3; at++) begin('a')
  expect(() => begin('a')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: 5 }))
  begin('b')
  begin('c')
  for (const newcomer of ['d', 'e']) begin(newcomer)
  expect(() => begin('f')).toThrow(expect.objectContaining(busy))
  held.pop()?.end()
  begin('f')
  for (const body of held) body.end()
  for (let at = 0; at < 5; at++) begin(String(at))
  for (const body of held) body.end()
})

test('the bytes that are held end for one address, and for all together, and are free again after', async () => {
  const small = bodies()
  for (let round = 0; round < 3; round++) {
    const one = small.begin(source(200, 100, 1), at('a'))
    await one.next()
    await one.next()
    expect(await codeOf(() => one.next())).toBe('RATE_LIMITED')
    const other = small.begin(source(200, 1), at('b'))
    await other.next()
    expect(await codeOf(() => other.next())).toBe('SERVER_BUSY')
    one.end()
    const third = small.begin(source(300), at('c'))
    await third.next()
    for (const body of [other, third]) body.end()
  }
})

test('one address cannot take all that there is', () => {
  expect(SMALL_BODIES.each.holders).toBeLessThanOrEqual(SMALL_BODIES.all.holders / 8)
  expect(SMALL_BODIES.each.size).toBeLessThanOrEqual(SMALL_BODIES.all.size / 8)
})
