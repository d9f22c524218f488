import { useId } from 'react'
import type { KeyExpiry } from './expiry.ts'
import { useSettings } from './settings-context.ts'

/** In days. */
const CHOICES = [30, 90, 365] as const

interface ExpiryFieldProps {
  readonly chosen: KeyExpiry
  readonly choose: (expiry: KeyExpiry) => void
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
