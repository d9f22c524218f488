import { DAY } from '../../src/domain/clock.ts'

/** When a key ends. A day is as in `2026-01-31`, and empty until it is chosen. */
export type KeyExpiry =
  | { readonly kind: 'never' }
  | { readonly kind: 'days'; readonly days: number }
  | { readonly kind: 'on'; readonly day: string }

/** ISO 8601, or null: never. A key that ends on a day is good until that is over, where the person is. */
export function endOf(expiry: KeyExpiry, now: number): string | null {
  switch (expiry.kind) {
    case 'never':
      return null
    case 'days':
      return new Date(now + expiry.days * DAY).toISOString()
    case 'on': {
      const midnight = new Date(`${expiry.day}T00:00:00`)
      midnight.setDate(midnight.getDate() + 1)
      return midnight.toISOString()
    }
  }
}
