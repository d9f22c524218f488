import { type Clock, SECOND } from '../domain/clock.ts'
import { AnswerError, ConnectionError } from './failure.ts'
import { backoff, mayPass, type RetryPatience, requestedPause } from './policy/retry-policy.ts'

/** For how many of the longest waits limits are waited for while nothing moves: of a transfer, for a day. */
const LIMITS_ENDURED = 12

export interface Retries {
  /**
   * Tries again what failed for a reason that passes, with growing pauses. `moved` tells how far it is: when that has
   * grown, patience begins anew. Throws the last failure.
   */
  persist<T>(patience: RetryPatience, attempt: () => Promise<T>, moved?: () => number): Promise<T>
  /** Waits until the server wants to be asked again for what may take as long as it takes; says nothing. */
  wait(milliseconds: number): Promise<void>
}

export interface RetryParts {
  readonly clock: Pick<Clock, 'monotonic'>
  /** From 0 to 1. */
  readonly chance: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Tells the person what is waited for. */
  readonly say: (line: string) => void
}

export function createRetries({ clock, chance, sleep, say }: RetryParts): Retries {
  /** When the server wants to hear of us again. What is asked side by side shares one limit. */
  let welcomeAt = 0

  async function untilWelcome(): Promise<void> {
    for (let left = welcomeAt - clock.monotonic(); left > 0; left = welcomeAt - clock.monotonic()) {
      await sleep(left)
    }
  }

  /** Waits as the server asks, or a pause that doubles; never all at the same moment. */
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
      /** When it first failed after something had moved; null: not since. */
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
          // A limit that was reached is no outage: whoever waits as told gets on.
          // Nor is the time before the first failure: what failed then may have been under way for long.
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

/** A limit that tells when it ends. */
function isRateLimit(error: AnswerError | ConnectionError): boolean {
  return error instanceof AnswerError && error.status === 429 && error.retryAfter !== null
}

function waitOf(error: AnswerError | ConnectionError): number | null {
  return error instanceof AnswerError ? error.retryAfter : null
}

function formatWait(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
