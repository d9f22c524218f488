import { Button } from '@mantine/core'
import { useState } from 'react'
import { CodeBox } from '../../shared/app/code-box.tsx'
import { Dialog } from '../../shared/dialogs/dialog.tsx'
import { useSettings } from '../settings-context.ts'
import { WebhookForm } from './webhook-form.tsx'
import { addWebhook } from './webhooks-client.ts'

interface NewWebhookDialogProps {
  readonly close: () => void
  /** Called when there is one webhook more, while its secret is shown. */
  readonly then: () => Promise<void>
}

/** Adds a webhook, and shows its secret this once. */
export function NewWebhookDialog({ close, then }: NewWebhookDialogProps) {
  const { common, webhooks } = useSettings().texts
  const { form } = webhooks
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Dialog
      close={close}
      closeText={common.close}
      isHeld={secret !== null}
      isWide={secret !== null}
      key={secret === null ? 'form' : 'added'}
      title={secret === null ? form.title : form.added}
      why={secret === null ? undefined : form.addedWhy}
    >
      {secret === null ? (
        <WebhookForm
          act={addWebhook}
          cancel={close}
          hint={form.urlHint}
          kinds={null}
          then={(made) => {
            setSecret(made)
            void then()
          }}
          url=""
          verb={form.add}
        />
      ) : (
        <>
          <CodeBox label={form.secret} text={secret} />
          <div className="dialog-actions">
            <Button onClick={close} variant="default">
              {form.done}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
