import { Refusal, type RefusedTry, type TriedSecret } from '../../domain/errors.ts'
import { busyWithPasswords } from '../password-hash.ts'
import type { RateLimits } from './rate-limits.ts'

/** A rate window in which attempts at guessing are counted. */
export interface TryWindow {
  readonly subject: string
  readonly limit: number
  /** Milliseconds. */
  readonly length: number
}

/** What is guessed, for the logs. */
interface Tried {
  readonly secret: TriedSecret
  /** User name of the account whose secret it is; null where there is none. */
  readonly username: string | null
}

/**
 * Counts an attempt before it is made, so that concurrent guesses are counted too. The returned function
 * takes the attempt back. Throws Refusal RATE_LIMITED, with `message`, after too many. `tried`: null for what
 * is no guess.
 */
export async function countTry(
  rates: RateLimits,
  windows: readonly TryWindow[],
  message: string,
  tried: Tried | null = null,
): Promise<() => Promise<void>> {
  const counted: { readonly subject: string; readonly openedAt: number }[] = []
  const takeBack = async () => {
    for (const { subject, openedAt } of counted) await rates.giveBack(subject, 1, openedAt)
  }
  try {
    for (const { subject, limit, length } of windows) {
      const verdict = await rates.take(subject, 1, limit, length)
      if (!verdict.allowed) {
        const refusedTry = tried === null ? {} : { refusedTry: await lockOf(rates, subject, length, tried) }
        throw new Refusal('RATE_LIMITED', message, verdict.resetsIn, refusedTry)
      }
      counted.push({ subject, openedAt: verdict.openedAt })
    }
    return takeBack
  } catch (error) {
    await takeBack()
    throw error
  }
}

/** Whether it is the first one that the full window refuses is told by a window beside it. */
async function lockOf(rates: RateLimits, subject: string, length: number, tried: Tried): Promise<RefusedTry> {
  const { allowed: isFirst } = await rates.take(`locked:${subject}`, 1, 1, length)
  return { ...tried, outcome: isFirst ? 'locked out' : 'locked' }
}

/** Concurrent attempts of one subject per node. */
const MAX_CONCURRENT = 2
/** Attempts of one subject that may queue for those; more are refused. */
const MAX_QUEUED = 200
/** Attempts of all subjects that may queue. */
const MAX_QUEUED_OF_ALL = 2000
/** Seconds suggested for a retry when the queue is full. */
const RETRY_AFTER = 5

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

const queues = new Map<string, Queue>()
let queued = 0

/**
 * Makes an attempt, which counts in each window unless `work` succeeds, or has not judged it because the server is busy:
 * only wrong guesses use up a limit. Few attempts of the first window's subject run concurrently, so that many correct
 * ones at once, as from one network, are not mistaken for guesses while they run. Throws what `work` throws, and Refusal
 * RATE_LIMITED, with `message`, or SERVER_BUSY.
 */
export async function tryOnce<T>(
  rates: RateLimits,
  windows: readonly [TryWindow, ...TryWindow[]],
  { message, tried }: { readonly message: string; readonly tried: Tried | null },
  work: () => Promise<T>,
): Promise<T> {
  const [{ subject }] = windows
  const leave = await enter(subject, message)
  try {
    const takeBack = await countTry(rates, windows, message, tried)
    const result = await work().catch(async (error: unknown) => {
      if (error instanceof Refusal && error.code === 'SERVER_BUSY') await takeBack()
      throw error
    })
    await takeBack()
    return result
  } finally {
    leave()
  }
}

async function enter(subject: string, message: string): Promise<() => void> {
  const queue = queues.get(subject) ?? { running: 0, waiting: [] }
  if (queue.running < MAX_CONCURRENT) {
    queue.running++
    queues.set(subject, queue)
  } else {
    if (queue.waiting.length >= MAX_QUEUED) throw new Refusal('RATE_LIMITED', message, RETRY_AFTER)
    if (queued >= MAX_QUEUED_OF_ALL) throw busyWithPasswords()
    queued++
    await new Promise<void>((resolve) => queue.waiting.push(resolve))
    queued--
  }
  return () => {
    const next = queue.waiting.shift()
    // This slot passes to the next attempt, so `running` does not change.
    if (next !== undefined) return next()
    queue.running--
    if (queue.running === 0) queues.delete(subject)
  }
}
