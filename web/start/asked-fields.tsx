import { TextInput } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect } from 'react'
import type { Answers } from './answers.ts'
import { type AskedField, ZONE } from './data.ts'

interface AskedFieldsProps {
  readonly fields: readonly AskedField[]
  readonly answers: Answers
  /** The element around them. */
  readonly place: RefObject<HTMLDivElement | null>
  /** Called when a field was left. */
  readonly filled: () => void
  /** What waits for them; null for nothing. */
  readonly children: ReactNode
}

/** What an upload link asks for, above the place to drop files. Without a script the form of that sends it. */
export function AskedFields({ fields, answers, place, filled, children }: AskedFieldsProps) {
  useEffect(() => {
    const known = answers.all()
    for (const field of place.current?.querySelectorAll('input') ?? []) {
      if (field.value === '') field.value = known[field.name] ?? ''
      else answers.set(field.name, field.value)
    }
  }, [answers, place])

  return (
    <div className="asked" ref={place}>
      {/* Above them, as below the browser says what is missing. */}
      <p className="asked-waiting" role="status">
        {children}
      </p>
      {fields.map(({ name, label, isRequired, type }) => (
        <TextInput
          autoComplete={AUTOCOMPLETE[name] ?? 'off'}
          form={ZONE}
          id={`asked-${name}`}
          key={name}
          label={label}
          maxLength={200}
          name={name}
          onBlur={filled}
          onChange={({ currentTarget }) => answers.set(name, currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key === 'Enter') filled()
          }}
          required={isRequired}
          type={type}
          withAsterisk={false}
        />
      ))}
    </div>
  )
}

const AUTOCOMPLETE: Readonly<Record<string, string>> = { sender: 'name', address: 'email' }

/** Whether all that is needed is there; where it is not, the browser says what is missing. */
export function areFilled(place: HTMLElement | null): boolean {
  return [...(place?.querySelectorAll('input') ?? [])].every((field) => field.reportValidity())
}
