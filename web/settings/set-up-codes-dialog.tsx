import { TextInput } from '@mantine/core'
import { type FormEvent, useMemo, useState } from 'react'
import type { NewSecondFactor, Session } from '../../src/contract/session.ts'
import { CodeBox } from '../shared/app/code-box.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { Dialog } from '../shared/dialogs/dialog.tsx'
import { DialogActions } from '../shared/dialogs/dialog-actions.tsx'
import { modulesOf } from '../uploads/list/qr-code.ts'
import { beginCodes, confirmCodes } from './client.ts'
import { OwnerDialog } from './owner-dialog.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { useSettings } from './settings-context.ts'

interface SetUpCodesDialogProps {
  readonly session: Session
  readonly close: () => void
  /** Called when codes are asked for from now on, while the recovery codes are shown. */
  readonly then: () => Promise<void>
}

/** The password, the secret for the app, its first code, and then the recovery codes. */
export function SetUpCodesDialog({ session, close, then }: SetUpCodesDialogProps) {
  const { codes } = useSettings().texts
  const [made, setMade] = useState<NewSecondFactor | null>(null)
  const [isConfirmed, setIsConfirmed] = useState(false)
  if (made === null) {
    return (
      <OwnerDialog
        act={beginCodes}
        close={close}
        session={session}
        then={setMade}
        title={codes.setUp}
        verb={codes.begin}
        why={codes.why}
      />
    )
  }
  if (!isConfirmed) {
    return (
      <FirstCode
        close={close}
        made={made}
        then={() => {
          setIsConfirmed(true)
          void then()
        }}
      />
    )
  }
  return <RecoveryCodes close={close} codes={made.recovery_codes} />
}

interface FirstCodeProps {
  readonly made: NewSecondFactor
  readonly close: () => void
  readonly then: () => void
}

function FirstCode({ made, close, then }: FirstCodeProps) {
  const { common, codes } = useSettings().texts
  const [code, setCode] = useState('')
  const { problem, isBusy, attempt } = useAttempt()
  const { size, path } = useMemo(() => modulesOf(made.uri), [made])

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(() => confirmCodes(code), then)
  }

  return (
    <Dialog close={close} closeText={common.close} title={codes.setUp} why={codes.scan}>
      <svg
        aria-label={codes.qrCode}
        className="qr"
        role="img"
        shapeRendering="crispEdges"
        viewBox={`0 0 ${size} ${size}`}
      >
        <path d={path} />
      </svg>
      <CodeBox label={codes.secret} text={made.secret} />
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoComplete="one-time-code"
          data-autofocus
          inputMode="numeric"
          label={codes.code}
          maxLength={20}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
          required
          value={code}
          withAsterisk={false}
        />
        <ProblemMessage text={problem} />
        <DialogActions cancel={close} cancelText={common.cancel} isDisabled={isBusy} verb={codes.confirm} />
      </form>
    </Dialog>
  )
}
