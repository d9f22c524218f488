import { DAY } from '../../src/domain/clock.ts'

/** A day is as in `2026-01-31`, and empty until it is chosen. */
export type End =
  | { readonly kind: 'never' }
  | { readonly kind: 'days'; readonly days: number }
  | { readonly kind: 'on'; readonly day: string }

/** ISO 8601; null for never. A day counts until its end in the local time zone. */
export function momentOf(end: End, now: number): string | null {
  switch (end.kind) {
    case 'never':
      return null
    case 'days':
      return new Date(now + end.days * DAY).toISOString()
    case 'on':
      // Midnight would be shown as the next day.
      return new Date(`${end.day}T23:59:59.999`).toISOString()
  }
}
