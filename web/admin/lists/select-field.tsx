import { useId } from 'react'

interface SelectFieldProps<T extends string> {
  readonly label: string
  readonly name: string
  readonly choices: readonly T[]
  readonly chosen: T
  readonly texts: Readonly<Record<T, string>>
}

/** A field of a plain form. */
export function SelectField<T extends string>(props: SelectFieldProps<T>) {
  const { label, name, choices, chosen, texts } = props
  const field = useId()
  return (
    <div className="field">
      <label htmlFor={field}>{label}</label>
      <select defaultValue={chosen} id={field} name={name}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {texts[choice]}
          </option>
        ))}
      </select>
    </div>
  )
}
