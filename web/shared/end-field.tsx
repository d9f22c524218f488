import { useId } from 'react'
import { isoDay, zoneHere } from '../../src/domain/days.ts'
import type { End } from './end.ts'
import type { Plural, Words } from './words.ts'

export interface EndTexts {
  readonly label: string
  readonly days: Plural
  readonly never: string
  readonly onDay: string
  readonly day: string
}

interface EndFieldProps {
  /** Days. */
  readonly choices: readonly number[]
  readonly chosen: End | null
  readonly choose: (end: End | null) => void
  readonly kept?: string
  readonly hasFocus?: boolean
  readonly texts: EndTexts
  readonly words: Words
}

export function EndField({ choices, chosen, choose, kept, hasFocus, texts, words }: EndFieldProps) {
  const [field, day] = [useId(), useId()]

  function chooseKind(value: string): void {
    if (value === 'kept') choose(null)
    else if (value === 'never') choose({ kind: 'never' })
    else if (value === 'on') choose({ kind: 'on', day: '' })
    else choose({ kind: 'days', days: Number(value) })
  }

  return (
    <div className="field">
      <label htmlFor={field}>{texts.label}</label>
      <select
        data-autofocus={hasFocus}
        id={field}
        onChange={({ currentTarget }) => chooseKind(currentTarget.value)}
        value={chosen === null ? 'kept' : chosen.kind === 'days' ? chosen.days : chosen.kind}
      >
        {kept === undefined ? null : <option value="kept">{kept}</option>}
        {choices.map((days) => (
          <option key={days} value={days}>
            {words.count(days, texts.days)}
          </option>
        ))}
        <option value="on">{texts.onDay}</option>
        <option value="never">{texts.never}</option>
      </select>
      {chosen?.kind === 'on' ? (
        <>
          <label htmlFor={day}>{texts.day}</label>
          <input
            id={day}
            min={isoDay(Date.now(), zoneHere())}
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
