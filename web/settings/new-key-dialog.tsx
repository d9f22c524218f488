import { useState } from 'react'
import type { NewApiKey } from '../../src/contract/keys.ts'
import { Dialog } from '../shared/dialogs/dialog.tsx'
import { MadeKeyView } from './made-key.tsx'
import { NewKeyForm } from './new-key-form.tsx'
import { useSettings } from './settings-context.ts'

interface NewKeyDialogProps {
  readonly close: () => void
  /** Called when there is one key more, while it is shown. */
  readonly then: () => Promise<void>
}

/** Makes a key, and shows it this once. */
export function NewKeyDialog({ close, then }: NewKeyDialogProps) {
  const { common, newKey } = useSettings().texts
  const [made, setMade] = useState<NewApiKey | null>(null)
  return (
    <Dialog
      close={close}
      closeText={common.close}
      isHeld={made !== null}
      isWide={made !== null}
      key={made === null ? 'form' : 'made'}
      title={made === null ? newKey.title : newKey.made}
      why={made === null ? undefined : newKey.madeWhy}
    >
      {made === null ? (
        <NewKeyForm
          cancel={close}
          made={(key) => {
            setMade(key)
            void then()
          }}
        />
      ) : (
        <MadeKeyView close={close} made={made} />
      )}
    </Dialog>
  )
}
