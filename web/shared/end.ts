import { DAY } from '../../src/domain/clock.ts'

/** When something ends. A day is as in `2026-01-31`, and empty until it is chosen. */
export type End =
  | { readonly kind: 'never' }
  | { readonly kind: 'days'; readonly days: number }
  | { readonly kind: 'on'; readonly day: string }

/** ISO 8601, or null: never. What ends on a day is good until that is over, where the person is. */
export function momentOf(end: End, now: number): string | null {
  switch (end.kind) {
    case 'never':
      return null
    case 'days':
      return new Date(now + end.days * DAY).toISOString()
    case 'on':
      // Not midnight, which is told as the day after.
      return new Date(`${end.day}T23:59:59.999`).toISOString()
  }
}
