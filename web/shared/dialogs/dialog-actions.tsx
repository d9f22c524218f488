import { Button } from '@mantine/core'

interface DialogActionsProps {
  readonly cancelText: string
  readonly cancel: () => void
  readonly verb: string
  /** Missing: the button submits the form. */
  readonly act?: () => void
  readonly isDisabled: boolean
  readonly isDeletion?: boolean
  /** Whether the dialog opens on Cancel, as one that only asks. */
  readonly isAsking?: boolean
}

/** The buttons at the end of a dialog. */
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
