import { type Clock, HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import { AnswerError, ConnectionError } from './failure.ts'

/** How long to go on when nothing moves, and how long to wait when the server asks for it; milliseconds. */
export interface Patience {
  readonly within: number
  readonly longestWait: number
}

/** For a question that a person waits for. */
export const ASKING: Patience = { within: 10 * SECOND, longestWait: MINUTE }

/** For bytes on their way: a server may be restarted meanwhile, and an hour's limit be used up. */
export const MOVING: Patience = { within: 5 * MINUTE, longestWait: 2 * HOUR }

export interface Retries {
  /**
   * Tries again what failed for a reason that passes, with growing pauses. `moved` tells how far it is: when that has
   * grown, patience begins anew. Throws the last failure.
   */
  persist<T>(patience: Patience, attempt: () => Promise<T>, moved?: () => number): Promise<T>
}

export interface RetryParts {
  readonly clock: Pick<Clock, 'monotonic'>
  /** From 0 to 1. */
  readonly chance: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Tells the person what is waited for. */
  readonly say: (line: string) => void
}

const FIRST_PAUSE = SECOND / 2
const LONGEST_PAUSE = 30 * SECOND

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
      const until = clock.monotonic() + error.retryAfter * SECOND + chance() * SECOND
      if (until > welcomeAt + SECOND) say(`${error.message} (waiting ${formatWait(error.retryAfter)})`)
      welcomeAt = Math.max(welcomeAt, until)
      return untilWelcome()
    }
    const most = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries)
    await sleep(most * (0.5 + chance() / 2))
  }

  return {
    async persist(patience, attempt, moved = () => 0) {
      let tries = 0
      let reached = moved()
      let since = clock.monotonic()
      for (;;) {
        await untilWelcome()
        try {
          return await attempt()
        } catch (error) {
          if (!passes(error) || (waitOf(error) ?? 0) * SECOND > patience.longestWait) throw error
          // A limit that was reached is no outage: whoever waits as told gets on.
          if (moved() > reached || isRateLimit(error)) {
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

const PASSING = [408, 423, 425, 429, 500, 502, 503, 504]

function passes(error: unknown): error is AnswerError | ConnectionError {
  if (error instanceof ConnectionError) return error.passes
  if (!(error instanceof AnswerError)) return false
  return error.retryAfter !== null || PASSING.includes(error.status)
}

function isRateLimit(error: AnswerError | ConnectionError): boolean {
  return error instanceof AnswerError && error.status === 429
}

function waitOf(error: AnswerError | ConnectionError): number | null {
  return error instanceof AnswerError ? error.retryAfter : null
}

function formatWait(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
