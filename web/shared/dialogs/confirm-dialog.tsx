import { useApp } from '../app/app-context.ts'
import { ProblemMessage } from '../app/problem.tsx'
import { useAttempt } from '../app/use-attempt.ts'
import { Dialog } from './dialog.tsx'
import { DialogActions } from './dialog-actions.tsx'

interface ConfirmDialogProps {
  readonly title: string
  readonly why: string
  readonly verb: string
  readonly isDeletion?: boolean
  readonly close: () => void
  /** Throws RequestFailure. */
  readonly act: () => Promise<void>
  readonly then: () => void | Promise<void>
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, why, verb, isDeletion = true, close, act, then } = props
  const { texts } = useApp()
  const { problem, isBusy, attempt } = useAttempt()

  function confirm(): void {
    void attempt(act, () => {
      close()
      return then()
    })
  }

  return (
    <Dialog close={close} closeText={texts.close} title={title} why={why}>
      <ProblemMessage text={problem} />
      <DialogActions
        cancel={close}
        cancelText={texts.cancel}
        act={confirm}
        isAsking
        isDeletion={isDeletion}
        isDisabled={isBusy}
        verb={verb}
      />
    </Dialog>
  )
}
