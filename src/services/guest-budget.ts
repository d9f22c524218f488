import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'
import type { Caller } from './caller.ts'
import type { RateLimits } from './rate-limits.ts'

/** What one upload takes of the bytes that a guest's address may send in an hour; accounts have no such limit. */
export interface GuestBudget {
  /** Throws Refusal RATE_LIMITED when that would be too many, and then takes nothing. */
  take(bytes: number): Promise<void>
  giveBack(bytes: number): Promise<void>
  /** Gives back all but `bytes` of what was taken. */
  settle(bytes: number): Promise<void>
}

const unlimited: GuestBudget = { async take() {}, async giveBack() {}, async settle() {} }

export function guestBudget(caller: Caller, rates: RateLimits, hourly: number): GuestBudget {
  if (caller.kind === 'account') return unlimited
  const subject = `guest-bytes:${caller.bucket}`
  /** What was taken when: an upload may outlast the hour it began in. */
  const takings: { readonly openedAt: number; bytes: number }[] = []

  const budget: GuestBudget = {
    async take(bytes) {
      const verdict = await rates.take(subject, bytes, hourly, HOUR)
      if (!verdict.allowed) {
        const message = `Guests may upload ${formatSize(hourly)} an hour; try again later`
        throw new Refusal('RATE_LIMITED', message, verdict.resetsIn)
      }
      takings.push({ openedAt: verdict.openedAt, bytes })
    },

    async giveBack(bytes) {
      for (let left = bytes; left > 0; ) {
        const last = takings.at(-1)
        if (last === undefined) return
        const part = Math.min(left, last.bytes)
        last.bytes -= part
        left -= part
        if (last.bytes === 0) takings.pop()
        await rates.giveBack(subject, part, last.openedAt)
      }
    },

    async settle(bytes) {
      const taken = takings.reduce((sum, taking) => sum + taking.bytes, 0)
      await budget.giveBack(taken - bytes)
    },
  }
  return budget
}
