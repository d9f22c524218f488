import { describe, expect, test } from 'bun:test'
import { downloadArriving } from '../../../src/client/downloading.ts'
import { AnswerError, ConnectionError } from '../../../src/client/failure.ts'
import type { RetryPatience } from '../../../src/client/policy/upload-policy.ts'
import { createRetries, type Retries } from '../../../src/client/retries.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/domain/clock.ts'
import { handClock } from '../../support/hand-clock.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

interface Trial {
  readonly retries: Retries
  /** What was slept, in milliseconds. */
  readonly waits: number[]
  readonly said: string[]
  readonly now: () => number
}

/** Sleeping takes no time but the clock's. */
function trial(chance: () => number = () => 1): Trial {
  const clock = handClock()
  const waits: number[] = []
  const said: string[] = []
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds)
    await Promise.resolve()
    clock.advance(milliseconds)
  }
  const retries = createRetries({ clock, chance, sleep, say: (line) => said.push(line) })
  return { retries, waits, said, now: clock.monotonic }
}

const away = () => new ConnectionError('away', { passes: true, isUnsent: false })
const answered = (status: number, retryAfter: number | null = null) =>
  new AnswerError(`answered ${status}`, status, 'CODE', retryAfter)
const patient: RetryPatience = { within: 10 * MINUTE, longestWait: 2 * HOUR }

/** Fails so often, with what `failure` says, and then succeeds. */
function failing(times: number, failure: () => Error): () => Promise<string> {
  let left = times
  return async () => {
    if (left-- > 0) throw failure()
    return 'done'
  }
}

describe('the pauses between tries', () => {
  test('double from half a second, up to half a minute', async () => {
    const { retries, waits } = trial()
    expect(await retries.persist(patient, failing(9, away))).toBe('done')
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })

  test('are by chance between half of the step and the whole', async () => {
    const chances = [0, 0.5, 1]
    const { retries, waits } = trial(() => chances.shift() ?? 0)
    await retries.persist(patient, failing(3, away))
    expect(waits).toEqual([250, 750, 2000])
  })

  test('begin anew when something has moved', async () => {
    const { retries, waits } = trial()
    let tries = 0
    const attempt = async () => {
      tries += 1
      if (tries <= 5) throw away()
    }
    await retries.persist(patient, attempt, () => (tries >= 4 ? 1 : 0))
    expect(waits).toEqual([500, 1000, 2000, 500, 1000])
  })
})

describe('patience', () => {
  test('ends when nothing has moved for so long, with the last failure', async () => {
    const { retries, now } = trial()
    const began = now()
    const patience = { ...patient, within: 10 * SECOND }
    await expect(retries.persist(patience, failing(Number.POSITIVE_INFINITY, away))).rejects.toThrow('away')
    expect(now() - began).toBeGreaterThan(10 * SECOND)
    expect(now() - began).toBeLessThan(20 * SECOND)
  })

  test('begins anew when something has moved', async () => {
    const { retries } = trial()
    let moved = 0
    const attempt = failing(100, away)
    const moving = () => {
      moved += 1
      return attempt()
    }
    expect(await retries.persist({ ...patient, within: SECOND }, moving, () => moved)).toBe('done')
  })

  test('is not tried by what will not pass', async () => {
    for (const error of [
      answered(404),
      answered(413),
      new ConnectionError('a bad certificate', { passes: false, isUnsent: true }),
      new Error('a fault of ours'),
    ]) {
      const { retries, waits } = trial()
      await expect(
        retries.persist(
          patient,
          failing(1, () => error),
        ),
      ).rejects.toBe(error)
      expect(waits).toEqual([])
    }
  })

  test.each([408, 423, 425, 429, 500, 502, 503, 504])('stands an answer %i', async (status) => {
    const { retries } = trial()
    expect(
      await retries.persist(
        patient,
        failing(1, () => answered(status)),
      ),
    ).toBe('done')
  })
})

describe('a server that says when to come again', () => {
  test('is obeyed with up to a second more, and the person is told once', async () => {
    const { retries, waits, said } = trial()
    await retries.persist(
      patient,
      failing(1, () => answered(503, 7)),
    )
    expect(waits).toEqual([8000])
    expect(said).toEqual(['answered 503 (waiting 7 s)'])
  })

  test('keeps all that asks it side by side waiting', async () => {
    const { retries, now, said } = trial()
    const began = now()
    const asked: number[] = []
    const ask = (attempt: () => Promise<string>) =>
      retries.persist(patient, () => {
        asked.push(now() - began)
        return attempt()
      })
    await ask(failing(1, () => answered(429, 100)))
    expect(asked).toEqual([0, 101 * SECOND])
    await Promise.all([ask(failing(1, () => answered(429, 50))), ask(failing(1, () => answered(429, 50)))])
    expect(asked.slice(-2).every((at) => at >= (101 + 50) * SECOND)).toBe(true)
    expect(said).toEqual(['answered 429 (waiting 100 s)', 'answered 429 (waiting 50 s)'])
  })

  test('is not asked before, by nothing that begins meanwhile, however soon another answer allows it', async () => {
    const clock = handClock()
    const slept: number[] = []
    const over = Promise.withResolvers<void>()
    const sleep = (milliseconds: number) => {
      slept.push(milliseconds)
      return over.promise
    }
    const retries = createRetries({ clock, chance: () => 1, sleep, say: () => {} })
    let asked = 0
    const ask = (retryAfter: number) => {
      const attempt = failing(1, () => answered(429, retryAfter))
      return retries.persist(patient, () => {
        asked += 1
        return attempt()
      })
    }
    const both = [ask(100), ask(1)]
    await Bun.sleep(0)
    const another = ask(1)
    await Bun.sleep(0)
    expect([asked, slept]).toEqual([2, [101_000, 101_000, 101_000]])
    clock.advance(101 * SECOND)
    over.resolve()
    expect(await Promise.all([...both])).toEqual(['done', 'done'])
    clock.advance(2 * SECOND)
    expect(await another).toBe('done')
  })

  test('may ask for a limit’s hour again and again, but for no more than is endured', async () => {
    const { retries } = trial()
    expect(
      await retries.persist(
        patient,
        failing(5, () => answered(429, 3600)),
      ),
    ).toBe('done')
    const longer = trial()
    const tooLong = failing(1, () => answered(429, 3 * 3600))
    await expect(longer.retries.persist(patient, tooLong)).rejects.toThrow('answered 429')
    expect(longer.waits).toEqual([])
  })
})

describe('a repeat without memory:', () => {
  test('a limit that names no time is waited for with growing pauses, and not for ever', async () => {
    const { retries, waits } = trial()
    const endless = failing(Number.POSITIVE_INFINITY, () => answered(429))
    await expect(retries.persist(patient, endless)).rejects.toThrow('answered 429')
    expect(waits.slice(0, 7)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000])
  })

  test('a limit that never ends, whatever it promises, ends the command after a day', async () => {
    const { retries, now } = trial()
    const began = now()
    const endless = failing(Number.POSITIVE_INFINITY, () => answered(429, 3600))
    await expect(retries.persist(patient, endless)).rejects.toThrow('answered 429')
    expect(now() - began).toBeGreaterThan(24 * HOUR)
    expect(now() - began).toBeLessThan(28 * HOUR)
  })
})

test('what a store does not show before it is whole is waited for, however long that takes', async () => {
  const { retries, now, said } = trial()
  using folder = temporaryFolder()
  let left = 200
  const bytes = async () => {
    if (left-- > 0) throw new AnswerError('still arriving', 404, 'FILE_ARRIVING', 5)
    return null
  }
  const watch = { begin: () => ({ at() {}, end() {} }), expect() {}, say() {} }
  expect(await downloadArriving({ retries, watch, folder: folder.path }, { slug: 'a', bytes })).toBe(true)
  expect([now() >= 1000 * SECOND, said]).toEqual([true, []])
})
