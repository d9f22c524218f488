import { Button } from '@mantine/core'
import { Dialog } from '../shared/dialogs/dialog.tsx'
import { CopyButton } from '../uploads/list/link-actions.tsx'
import { useSettings } from './settings-context.ts'

interface RecoveryCodesProps {
  readonly codes: readonly string[]
  readonly close: () => void
}

/** New recovery codes, the only time that they can be seen. */
export function RecoveryCodes({ codes, close }: RecoveryCodesProps) {
  const { texts } = useSettings()
  return (
    <Dialog close={close} closeText={texts.common.close} isHeld title={texts.codes.recovery}>
      <p>{texts.codes.recoveryWhy}</p>
      <ul className="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="dialog-actions">
        <CopyButton
          copied={texts.common.copied}
          label={texts.codes.copyAll}
          text={codes.join('\n')}
          variant="light"
        />
        <Button onClick={close}>{texts.codes.kept}</Button>
      </div>
    </Dialog>
  )
}
