import { type Clock, SECOND } from '../domain/clock.ts'
import { AnswerError, ConnectionError } from './failure.ts'
import { backoff, mayPass, type RetryPatience, requestedPause } from './policy/upload-policy.ts'

/** Longest waits endured at limits without progress: a day for a transfer. */
const LIMITS_ENDURED = 12

export interface Retries {
  /** Retries temporary failures with backoff. Progress in `moved` resets it. Throws the last failure. */
  persist<T>(patience: RetryPatience, attempt: () => Promise<T>, moved?: () => number): Promise<T>
  /** Waits silently until the server accepts long operations again. */
  wait(milliseconds: number): Promise<void>
}

export interface RetryParts {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly chance: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly say: (line: string) => void
}

export function createRetries({ clock, chance, sleep, say }: RetryParts): Retries {
  /** Concurrent requests share one limit. */
  let welcomeAt = 0

  async function untilWelcome(): Promise<void> {
    for (let left = welcomeAt - clock.monotonic(); left > 0; left = welcomeAt - clock.monotonic()) {
      await sleep(left)
    }
  }

  async function pause(error: AnswerError | ConnectionError, tries: number): Promise<void> {
    if (error instanceof AnswerError && error.retryAfter !== null) {
      const until = clock.monotonic() + requestedPause(error.retryAfter, chance())
      if (until > welcomeAt + SECOND) say(`${error.message} (waiting ${formatWait(error.retryAfter)})`)
      welcomeAt = Math.max(welcomeAt, until)
      return untilWelcome()
    }
    await sleep(backoff(tries, chance()))
  }

  return {
    wait: sleep,

    async persist(patience, attempt, moved = () => 0) {
      let tries = 0
      let reached = moved()
      let since = clock.monotonic()
      /** First failure since progress. */
      let stuckSince: number | null = null
      for (;;) {
        await untilWelcome()
        try {
          return await attempt()
        } catch (error) {
          if (!passes(error) || (waitOf(error) ?? 0) * SECOND > patience.longestWait) throw error
          const hasMoved = moved() > reached
          if (hasMoved || stuckSince === null) stuckSince = clock.monotonic()
          const isStuck = clock.monotonic() - stuckSince > LIMITS_ENDURED * patience.longestWait
          // A limit is no outage: waiting as asked helps. Time before the first failure does not count: that
          // request may have run for long.
          if (tries === 0 || hasMoved || (isRateLimit(error) && !isStuck)) {
            reached = moved()
            since = clock.monotonic()
            tries = 0
          } else if (clock.monotonic() - since > patience.within) throw error
          await pause(error, tries)
          tries += 1
        }
      }
    },
  }
}

function passes(error: unknown): error is AnswerError | ConnectionError {
  if (error instanceof ConnectionError) return error.passes
  return error instanceof AnswerError && mayPass(error, false)
}

function isRateLimit(error: AnswerError | ConnectionError): boolean {
  return error instanceof AnswerError && error.status === 429 && error.retryAfter !== null
}

function waitOf(error: AnswerError | ConnectionError): number | null {
  return error instanceof AnswerError ? error.retryAfter : null
}

function formatWait(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
