import { Refusal } from '../domain/errors.ts'
import type { RateLimits } from './rate-limits.ts'

/** What somebody who guesses uses up. */
export interface TryWindow {
  readonly subject: string
  readonly limit: number
  /** Milliseconds. */
  readonly length: number
}

/**
 * Counts a try before it is made, so that guesses sent side by side are counted too. What it returns takes the try back.
 * Throws Refusal RATE_LIMITED, with `message`, after too many.
 */
export async function countTry(
  rates: RateLimits,
  windows: readonly TryWindow[],
  message: string,
): Promise<() => Promise<void>> {
  const counted: { readonly subject: string; readonly openedAt: number }[] = []
  const takeBack = async () => {
    for (const { subject, openedAt } of counted) await rates.giveBack(subject, 1, openedAt)
  }
  try {
    for (const { subject, limit, length } of windows) {
      const verdict = await rates.take(subject, 1, limit, length)
      if (!verdict.allowed) throw new Refusal('RATE_LIMITED', message, verdict.resetsIn)
      counted.push({ subject, openedAt: verdict.openedAt })
    }
    return takeBack
  } catch (error) {
    await takeBack()
    throw error
  }
}

/** Tries of one subject that a node makes at the same time. */
const AT_ONCE = 2
/** Tries of one subject that wait for those; more are refused. */
const MOST_WAITING = 200
/** Seconds after which there is room again, when so many wait. */
const ROOM_AGAIN = 5

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

const queues = new Map<string, Queue>()

/**
 * Makes a try, which counts in each window unless `work` succeeds: only wrong guesses use up a limit. Few tries of the
 * first window's subject are made at once, so that many right ones that come together, as from one network, are
 * not taken for guesses while they last. Throws what `work` throws, and Refusal RATE_LIMITED, with `message`.
 */
export async function tryOnce<T>(
  rates: RateLimits,
  windows: readonly [TryWindow, ...TryWindow[]],
  message: string,
  work: () => Promise<T>,
): Promise<T> {
  const [{ subject }] = windows
  const leave = await enter(subject, message)
  try {
    const takeBack = await countTry(rates, windows, message)
    const result = await work()
    await takeBack()
    return result
  } finally {
    leave()
  }
}

async function enter(subject: string, message: string): Promise<() => void> {
  const queue = queues.get(subject) ?? { running: 0, waiting: [] }
  queues.set(subject, queue)
  if (queue.running < AT_ONCE) queue.running++
  else if (queue.waiting.length >= MOST_WAITING) throw new Refusal('RATE_LIMITED', message, ROOM_AGAIN)
  else await new Promise<void>((resolve) => queue.waiting.push(resolve))
  return () => {
    const next = queue.waiting.shift()
    // The place is handed over, so `running` stays as it is.
    if (next !== undefined) return next()
    queue.running--
    if (queue.running === 0) queues.delete(subject)
  }
}
