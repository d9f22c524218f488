import type { Webhook } from '../../../src/contract/events.ts'
import type { EventKind } from '../../../src/domain/event-kinds.ts'
import { Dialog } from '../../shared/dialogs/dialog.tsx'
import { useSettings } from '../settings-context.ts'
import { WebhookForm } from './webhook-form.tsx'
import { changeWebhook } from './webhooks-client.ts'

interface ChangeWebhookDialogProps {
  readonly webhook: Webhook
  readonly changed: () => Promise<void>
  readonly close: () => void
}

/** Changes where a webhook leads, and what it is told of. */
export function ChangeWebhookDialog({ webhook, changed, close }: ChangeWebhookDialogProps) {
  const { common, webhooks } = useSettings().texts
  const { form } = webhooks

  /** The address only if it is another one: who changes nothing but events need not sign in again. */
  function change(url: string, kinds: readonly EventKind[] | null): Promise<void> {
    return changeWebhook(webhook, { ...(url === webhook.url ? {} : { url }), kinds })
  }

  return (
    <Dialog close={close} closeText={common.close} title={form.changeTitle}>
      <WebhookForm
        act={change}
        cancel={close}
        hint={`${form.urlHint}. ${form.changeHint}`}
        kinds={webhook.kinds}
        then={changed}
        url={webhook.url}
        verb={form.save}
      />
    </Dialog>
  )
}
