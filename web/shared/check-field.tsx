interface CheckFieldProps {
  readonly text: string
  readonly why?: string | undefined
  readonly isChecked: boolean
  readonly set: (isChecked: boolean) => void
  readonly isDisabled?: boolean
}

export function CheckField({ text, why, isChecked, set, isDisabled = false }: CheckFieldProps) {
  return (
    <label className="check">
      <input
        checked={isChecked}
        disabled={isDisabled}
        onChange={({ currentTarget }) => set(currentTarget.checked)}
        type="checkbox"
      />
      <span>
        {text}
        {why === undefined ? null : <span className="small quiet">{why}</span>}
      </span>
    </label>
  )
}
