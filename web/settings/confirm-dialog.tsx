import { Button } from '@mantine/core'
import { Dialog } from '../shared/dialog.tsx'
import { useSettings } from './settings-context.ts'
import { useAttempt } from './use-attempt.ts'

interface ConfirmDialogProps {
  readonly title: string
  readonly why: string
  readonly verb: string
  readonly close: () => void
  /** Throws RequestFailure. */
  readonly act: () => Promise<void>
  /** Once it is done. */
  readonly then: () => void
}

/** Asks once more before what cannot be taken back. */
export function ConfirmDialog({ title, why, verb, close, act, then }: ConfirmDialogProps) {
  const { common } = useSettings().texts
  const { problem, isBusy, attempt } = useAttempt()

  function confirm(): void {
    void attempt(act, () => {
      close()
      then()
    })
  }

  return (
    <Dialog close={close} closeText={common.close} title={title}>
      <p>{why}</p>
      <Problem text={problem} />
      <div className="dialog-actions">
        <Button onClick={close} variant="default">
          {common.cancel}
        </Button>
        <Button color="red" disabled={isBusy} onClick={confirm}>
          {verb}
        </Button>
      </div>
    </Dialog>
  )
}

export function Problem({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <p className="failure" role="alert">
      {text}
    </p>
  )
}
