import { Button } from '@mantine/core'
import { useApp } from './app-context.ts'
import { Dialog } from './dialog.tsx'
import { Problem } from './problem.tsx'
import { useAttempt } from './use-attempt.ts'

interface ConfirmDialogProps {
  readonly title: string
  readonly why: string
  readonly verb: string
  /** Whether something is lost by it. */
  readonly isDeletion?: boolean
  readonly close: () => void
  /** Throws RequestFailure. */
  readonly act: () => Promise<void>
  /** Once it is done. */
  readonly then: () => void
}

/** Asks once more before what cannot be taken back. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, why, verb, isDeletion = true, close, act, then } = props
  const { texts } = useApp()
  const { problem, isBusy, attempt } = useAttempt()

  function confirm(): void {
    void attempt(act, () => {
      close()
      then()
    })
  }

  return (
    <Dialog close={close} closeText={texts.close} title={title}>
      <p>{why}</p>
      <Problem text={problem} />
      <div className="dialog-actions">
        <Button onClick={close} variant="default">
          {texts.cancel}
        </Button>
        <Button {...(isDeletion ? { color: 'red' } : {})} disabled={isBusy} onClick={confirm}>
          {verb}
        </Button>
      </div>
    </Dialog>
  )
}
