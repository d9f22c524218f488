import { useId } from 'react'
import { useSettings } from './settings-context.ts'

/** When a key ends. A day is as in `2026-01-31`, and empty until it is chosen. */
export type Expiry =
  | { readonly kind: 'never' }
  | { readonly kind: 'days'; readonly days: number }
  | { readonly kind: 'on'; readonly day: string }

const DAY = 24 * 60 * 60_000
const CHOICES = [30, 90, 365] as const

/** ISO 8601, or null: never. A key that ends on a day is good until that is over, where the person is. */
export function endOf(expiry: Expiry, now: number): string | null {
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

interface ExpiryFieldProps {
  readonly chosen: Expiry
  readonly choose: (expiry: Expiry) => void
}

export function ExpiryField({ chosen, choose }: ExpiryFieldProps) {
  const { texts, words } = useSettings()
  const { newKey } = texts
  const [field, day] = [useId(), useId()]

  function chooseKind(value: string): void {
    if (value === 'never') choose({ kind: 'never' })
    else if (value === 'on') choose({ kind: 'on', day: '' })
    else choose({ kind: 'days', days: Number(value) })
  }

  return (
    <div className="field">
      <label htmlFor={field}>{newKey.expires}</label>
      <select
        id={field}
        onChange={({ currentTarget }) => chooseKind(currentTarget.value)}
        value={chosen.kind === 'days' ? chosen.days : chosen.kind}
      >
        <option value="never">{newKey.never}</option>
        {CHOICES.map((days) => (
          <option key={days} value={days}>
            {words.count(days, newKey.days)}
          </option>
        ))}
        <option value="on">{newKey.onDay}</option>
      </select>
      {chosen.kind === 'on' ? (
        <>
          <label htmlFor={day}>{newKey.day}</label>
          <input
            id={day}
            onChange={({ currentTarget }) => choose({ kind: 'on', day: currentTarget.value })}
            required
            type="date"
            value={chosen.day}
          />
        </>
      ) : null}
    </div>
  )
}
