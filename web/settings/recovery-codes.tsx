import { Button } from '@mantine/core'
import { Dialog } from '../shared/dialogs/dialog.tsx'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { saveText } from '../shared/save-text.ts'
import { CopyButton } from '../uploads/list/link-actions.tsx'
import { useSettings } from './settings-context.ts'

interface RecoveryCodesProps {
  readonly codes: readonly string[]
  readonly close: () => void
}

/** New recovery codes, the only time that they can be seen. */
export function RecoveryCodes({ codes, close }: RecoveryCodesProps) {
  const { texts, data } = useSettings()
  const { publicUrl, username } = data
  // Whoever finds the file years later learns what it is for.
  const file = [texts.codes.recovery, publicUrl, username, '', ...codes, ''].join('\n')
  return (
    <Dialog
      close={close}
      closeText={texts.common.close}
      isHeld
      title={texts.codes.recovery}
      why={texts.codes.recoveryWhy}
    >
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
        <Button
          leftSection={<Drawing of="download" />}
          onClick={() => saveText('holdfast-recovery-codes.txt', file)}
          variant="light"
        >
          {texts.codes.download}
        </Button>
        <Button onClick={close}>{texts.codes.kept}</Button>
      </div>
    </Dialog>
  )
}
