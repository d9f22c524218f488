import { Button } from '@mantine/core'

interface DialogActionsProps {
  readonly cancelText: string
  readonly cancel: () => void
  readonly verb: string
  /** Without it the button submits the form. */
  readonly act?: () => void
  readonly isDisabled: boolean
  readonly isDeletion?: boolean
  readonly isAsking?: boolean
}

export function DialogActions(props: DialogActionsProps) {
  const { cancelText, cancel, verb, act, isDisabled, isDeletion = false, isAsking = false } = props
  return (
    <div className="dialog-actions">
      <Button data-autofocus={isAsking || undefined} onClick={cancel} type="button" variant="default">
        {cancelText}
      </Button>
      <Button
        {...(isDeletion ? { color: 'red' } : {})}
        disabled={isDisabled}
        onClick={act}
        type={act === undefined ? 'submit' : 'button'}
      >
        {verb}
      </Button>
    </div>
  )
}
