import type { FormEvent } from 'react'
import type { Session } from '../../src/contract/session.ts'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { Dialog } from '../shared/dialogs/dialog.tsx'
import { DialogActions } from '../shared/dialogs/dialog-actions.tsx'
import { PresentPassword, usePresentPassword } from './present-password.tsx'
import { useSettings } from './settings-context.ts'

interface OwnerDialogProps<T> {
  readonly session: Session
  readonly title: string
  readonly why: string
  readonly verb: string
  readonly isDeletion?: boolean
  readonly close: () => void
  /** Throws RequestFailure. */
  readonly act: (password: string | null) => Promise<T>
  /** Once it is done. */
  readonly then: (result: T) => void | Promise<void>
}

/** Asks for the password before something is done. */
export function OwnerDialog<T>(props: OwnerDialogProps<T>) {
  const { session, title, why, verb, isDeletion = false, close, act, then } = props
  const { common } = useSettings().texts
  const { given, ...present } = usePresentPassword(session)
  const { problem, passwordProblem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(() => act(given), then)
  }

  return (
    <Dialog close={close} closeText={common.close} title={title} why={why}>
      <form className="dialog-form" onSubmit={submit}>
        <PresentPassword {...present} problem={passwordProblem} />
        <ProblemMessage text={problem} />
        <DialogActions
          cancel={close}
          cancelText={common.cancel}
          isDeletion={isDeletion}
          isDisabled={isBusy}
          verb={verb}
        />
      </form>
    </Dialog>
  )
}
