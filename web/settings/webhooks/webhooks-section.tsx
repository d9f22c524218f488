import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Webhook } from '../../../src/contract/events.ts'
import { MOST_WEBHOOKS } from '../../../src/domain/webhook.ts'
import { Loaded } from '../../shared/app/loaded.tsx'
import { PageSection } from '../../shared/app/part.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { ConfirmDialog } from '../../shared/dialogs/confirm-dialog.tsx'
import { fill } from '../../shared/words.ts'
import { useSettings } from '../settings-context.ts'
import { ChangeWebhookDialog } from './change-webhook-dialog.tsx'
import { NewWebhookDialog } from './new-webhook-dialog.tsx'
import { WebhookRow } from './webhook-row.tsx'
import { fetchWebhooks, removeWebhook } from './webhooks-client.ts'

/** Where the server posts what happens, and what became of it. */
export function WebhooksSection() {
  const { texts, say } = useSettings()
  const { webhooks } = texts
  const { answered, again } = useAnswer(fetchWebhooks)
  const [isAdding, setIsAdding] = useState(false)
  const [changed, setChanged] = useState<Webhook | null>(null)
  const [removed, setRemoved] = useState<Webhook | null>(null)
  return (
    <PageSection title={webhooks.title} why={webhooks.why}>
      <p>
        <a href="/docs/webhooks">{webhooks.guide}</a>
      </p>
      <Loaded again={again} answered={answered}>
        {(all) => (
          <>
            <WebhookList again={again} change={setChanged} remove={setRemoved} webhooks={all} />
            <AddButton add={() => setIsAdding(true)} count={all.length} />
          </>
        )}
      </Loaded>
      {isAdding ? <NewWebhookDialog close={() => setIsAdding(false)} then={again} /> : null}
      {changed === null ? null : (
        <ChangeWebhookDialog
          changed={() => {
            setChanged(null)
            say(webhooks.changed)
            return again()
          }}
          close={() => setChanged(null)}
          webhook={changed}
        />
      )}
      {removed === null ? null : (
        <ConfirmDialog
          act={() => removeWebhook(removed)}
          close={() => setRemoved(null)}
          then={() => {
            say(webhooks.removed)
            return again()
          }}
          title={fill(webhooks.removeOf, { url: removed.url })}
          verb={webhooks.remove}
          why={webhooks.removeWhy}
        />
      )}
    </PageSection>
  )
}

interface WebhookListProps {
  readonly webhooks: readonly Webhook[]
  readonly again: () => Promise<void>
  readonly change: (webhook: Webhook) => void
  readonly remove: (webhook: Webhook) => void
}

function WebhookList({ webhooks, again, change, remove }: WebhookListProps) {
  const { texts } = useSettings()
  if (webhooks.length === 0) return <p className="quiet">{texts.webhooks.empty}</p>
  return (
    <ul className="webhooks">
      {webhooks.map((webhook) => (
        <WebhookRow
          again={again}
          change={() => change(webhook)}
          key={webhook.id}
          remove={() => remove(webhook)}
          webhook={webhook}
        />
      ))}
    </ul>
  )
}

function AddButton({ add, count }: { add: () => void; count: number }) {
  const { texts, words } = useSettings()
  if (count >= MOST_WEBHOOKS)
    return <p className="quiet">{words.count(MOST_WEBHOOKS, texts.webhooks.most)}</p>
  return (
    <Button className="add" onClick={add}>
      {texts.webhooks.add}
    </Button>
  )
}
