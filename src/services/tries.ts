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
 * Counts a try before it is made, so that guesses sent side by side are counted too. What it returns takes the try back,
 * for one that was right. Throws Refusal RATE_LIMITED, with `message`, after too many.
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
