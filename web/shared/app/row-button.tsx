import { Button } from '@mantine/core'

interface RowButtonProps {
  /** Names the row as well, for screen readers. */
  readonly label: string
  readonly text: string
  readonly act: () => void
  readonly isDisabled?: boolean
}

export function RowButton({ label, text, act, isDisabled = false }: RowButtonProps) {
  return (
    <Button aria-label={label} className="row-button" disabled={isDisabled} onClick={act} variant="default">
      {text}
    </Button>
  )
}
