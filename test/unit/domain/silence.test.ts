/** Seconds are those of a timer that the test turns. */
import { expect, test } from 'bun:test'
import { SilenceWatch } from '../../../src/domain/silence.ts'

class Away extends Error {}

function watched() {
  let due: (() => void) | null = null
  const pings: { readonly signal: AbortSignal; answer(): void; fail(): void }[] = []
  let silences = 0
  const watch = new SilenceWatch({
    ping: (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      pings.push({ signal, answer: resolve, fail: () => reject(new Error('no connection')) })
      return promise
    },
    failure: () => new Away(),
    wentSilent: () => {
      silences++
    },
    timers: {
      monotonic: () => 0,
      after(_, call) {
        due = call
        return () => {
          due = null
        }
      },
    },
  })
  const ends: string[] = []
  return {
    watch,
    pings,
    ends,
    silences: () => silences,
    isTicking: () => due !== null,
    /** Lets so many seconds pass. */
    async pass(seconds: number) {
      for (let ticks = 0; ticks < seconds * 2; ticks++) {
        const call = due
        due = null
        call?.()
        await settled()
      }
    },
    /** A request that waits; returns what answers it, and what moves it on. */
    ask(name: string) {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      let move = () => {}
      const late = (value: string) => ends.push(`${name} came late: ${value}`)
      const asked = watch.run((moved) => {
        move = moved
        return promise
      }, late)
      asked.then(
        (value) => ends.push(`${name}: ${value}`),
        (error: unknown) => ends.push(`${name} ${error instanceof Away ? 'is away' : 'failed'}`),
      )
      return { answer: () => resolve('answer'), fail: () => reject(new Error('cut')), move: () => move() }
    },
  }
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await Promise.resolve()
}

test('what waits for a service that answers nothing fails after six seconds, and what comes then at once', async () => {
  const it = watched()
  it.ask('first')
  await it.pass(1)
  it.ask('second')
  await it.pass(4.5)
  expect(it.ends).toEqual([])
  await it.pass(0.5)
  expect(it.ends).toEqual(['first is away', 'second is away'])
  expect(it.silences()).toBe(1)
  it.ask('third')
  await settled()
  expect(it.ends.at(-1)).toBe('third is away')
})

test('what takes long is left alone while the service gives a sign of life', async () => {
  const it = watched()
  const slow = it.ask('slow')
  for (let minutes = 0; minutes < 5; minutes++) {
    await it.pass(4)
    for (const ping of it.pings) ping.answer()
    await settled()
  }
  expect(it.ends).toEqual([])
  slow.answer()
  await settled()
  expect(it.ends).toEqual(['slow: answer'])
})

test('an answer to anything shows that a service is there', async () => {
  const it = watched()
  it.ask('slow')
  for (let seconds = 0; seconds < 30; seconds++) {
    const quick = it.ask('quick')
    await it.pass(1)
    quick.answer()
    await settled()
  }
  expect(it.ends).toEqual(Array.from({ length: 30 }, () => 'quick: answer'))
  expect(it.pings).toEqual([])
})

test('a failure shows nothing, so a service that is asked again and again is found silent', async () => {
  const it = watched()
  for (let tries = 0; tries < 2; tries++) {
    const asked = it.ask(`try ${tries}`)
    await it.pass(2.5)
    asked.fail()
    await settled()
  }
  await it.pass(1)
  it.ask('next')
  await settled()
  expect(it.ends).toEqual(['try 0 failed', 'try 1 failed', 'next is away'])
})

test('as soon as it answers, it is used again, and what was given up is handed over', async () => {
  const it = watched()
  const lost = it.ask('lost')
  await it.pass(6)
  it.pings.at(-1)?.answer()
  await settled()
  const next = it.ask('next')
  next.answer()
  lost.answer()
  await settled()
  expect(it.ends.sort()).toEqual(['lost came late: answer', 'lost is away', 'next: answer'])
})

test('what still moves is not cut off', async () => {
  const it = watched()
  const moving = it.ask('moving')
  it.ask('still')
  for (let seconds = 0; seconds < 8; seconds++) {
    moving.move()
    await it.pass(1)
  }
  expect(it.ends).toEqual(['still is away'])
  await it.pass(2)
  expect(it.ends).toEqual(['still is away', 'moving is away'])
})

test('it is asked by one connection at a time, and no more when nobody waits for it', async () => {
  const it = watched()
  it.ask('lost')
  await it.pass(9)
  expect(it.pings.filter(({ signal }) => !signal.aborted).length).toBe(1)
  expect(it.pings.length).toBeGreaterThan(1)
  await it.pass(20)
  expect(it.isTicking()).toBe(false)
  expect(it.pings.filter(({ signal }) => !signal.aborted)).toEqual([])
})
