/** What guesses use up, and what right answers do not. */
import { describe, expect, test } from 'bun:test'
import { type TryWindow, tryOnce } from '../../../../src/core/rate-limits/attempts.ts'
import { createRateLimits, type RateLimits } from '../../../../src/core/rate-limits/rate-limits.ts'
import { HOUR, MINUTE, SECOND } from '../../../../src/domain/clock.ts'
import { Refusal } from '../../../../src/domain/errors.ts'
import { sqliteDatabase } from '../../../support/databases/databases.ts'
import { handClock } from '../../../support/hand-clock.ts'

const FEW: TryWindow = { subject: 'few', limit: 2, length: MINUTE }
const MANY: TryWindow = { subject: 'many', limit: 3, length: HOUR }

type Windows = readonly [TryWindow, ...TryWindow[]]

async function withRates(work: (rates: RateLimits) => Promise<void>): Promise<void> {
  await using database = await sqliteDatabase()
  await work(await createRateLimits(database.db, handClock()))
}

async function outcome(rates: RateLimits, windows: Windows, work: () => Promise<void>): Promise<string> {
  return tryOnce(rates, windows, { message: 'too many tries', tried: null }, work).then(
    () => 'right',
    (error: unknown) => (error instanceof Error ? error.message : 'no error'),
  )
}

const right = async () => {}
const wrong = () => Promise.reject(new Error('wrong'))

describe('a try', () => {
  test('that is right uses up no window', () =>
    withRates(async (rates) => {
      for (let each = 0; each < 10; each++) expect(await outcome(rates, [FEW, MANY], right)).toBe('right')
      expect(await outcome(rates, [FEW, MANY], wrong)).toBe('wrong')
      expect(await outcome(rates, [FEW, MANY], wrong)).toBe('wrong')
      expect(await outcome(rates, [FEW, MANY], wrong)).toBe('too many tries')
    }))

  test('that is refused by one window does not count in the others', () =>
    withRates(async (rates) => {
      for (let each = 0; each < 2; each++) expect(await outcome(rates, [FEW, MANY], wrong)).toBe('wrong')
      for (let each = 0; each < 5; each++) {
        expect(await outcome(rates, [MANY, FEW], wrong)).toBe('too many tries')
      }
      expect((await rates.look(MANY.subject, 1, MANY.limit, MANY.length)).remaining).toBe(1)
    }))

  test('waits for its turn: two of a subject at once, 200 behind them, and the next is refused', () =>
    withRates(async (rates) => {
      const generous: Windows = [{ ...FEW, limit: 1000 }]
      const { promise: end, resolve } = Promise.withResolvers<void>()
      let running = 0
      let most = 0
      const work = async () => {
        most = Math.max(most, ++running)
        await end
        running--
      }
      const tries = Array.from({ length: 202 }, () => outcome(rates, generous, work))
      const next = outcome(rates, generous, work)
      expect(await Promise.race([next, Bun.sleep(SECOND)])).toBe('too many tries')
      expect(await outcome(rates, [MANY], right)).toBe('right')
      resolve()
      expect(new Set(await Promise.all(tries))).toEqual(new Set(['right']))
      expect(most).toBe(2)
      expect(await outcome(rates, generous, right)).toBe('right')
    }))

  test('that the busy server did not judge uses up no window', () =>
    withRates(async (rates) => {
      const busy = () => Promise.reject(new Refusal('SERVER_BUSY', 'busy'))
      for (let each = 0; each < 5; each++) expect(await outcome(rates, [FEW, MANY], busy)).toBe('busy')
      for (let each = 0; each < 2; each++) expect(await outcome(rates, [FEW, MANY], wrong)).toBe('wrong')
      expect(await outcome(rates, [FEW, MANY], wrong)).toBe('too many tries')
    }))

  test('waits with at most 2,000 others of all subjects; beyond that the server is busy, and counts none', () =>
    withRates(async (rates) => {
      const subject = (each: number): Windows => [{ subject: `of ${each}`, limit: 1000, length: MINUTE }]
      const { promise: end, resolve } = Promise.withResolvers<void>()
      const tries = Array.from({ length: 2020 }, (_, at) => outcome(rates, subject(at % 10), () => end))
      const beyond = Array.from({ length: 1000 }, (_, at) => outcome(rates, subject(10 + at), () => end))
      const third = Array.from({ length: 2 }, () => outcome(rates, subject(10), () => end))
      const refused = await third[1]
      expect(refused).toContain('Too many passwords are being checked')
      expect((await rates.look('of 10', 1, 1000, MINUTE)).remaining).toBe(998)
      resolve()
      expect(new Set(await Promise.all([...tries, ...beyond, third[0]]))).toEqual(new Set(['right']))
      expect(await outcome(rates, subject(10), right)).toBe('right')
    }))

  test('hands its place over to who waits: a third never runs beside two', () =>
    withRates(async (rates) => {
      const generous: Windows = [{ ...FEW, limit: 1000 }]
      const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
      const running = new Set<number>()
      const begin = (each: number) =>
        outcome(rates, generous, async () => {
          running.add(each)
          await ends[each]?.promise
          running.delete(each)
        })
      const tries = [begin(0), begin(1), begin(2)]
      ends[0]?.resolve()
      await tries[0]
      tries.push(begin(3))
      await Bun.sleep(0)
      expect([...running]).toEqual([1, 2])
      for (const { resolve } of ends) resolve()
      expect(await Promise.all(tries)).toEqual(['right', 'right', 'right', 'right'])
    }))
})
