import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { HOUR, SECOND } from '../domain/clock.ts'
import type { EndableMails } from '../mail/outbox.ts'
import { webhookDisabled } from './disabled-mail.ts'
import { createWebhookSender } from './webhook-request.ts'
import { WebhookSending } from './webhook-sending.job.ts'
import { Webhooks } from './webhooks.ts'

export interface WebhooksPart {
  readonly webhooks: Webhooks
  readonly jobs: readonly Job[]
  stop(): void
}

export function createWebhooksPart(core: Core, mails: EndableMails, version: string): WebhooksPart {
  const anyNetwork = core.config.webhookPrivateNetworks
  const sending = new WebhookSending({
    ...core,
    sender: createWebhookSender({ anyNetwork }),
    userAgent: `Holdfast/${version}`,
    disabled: webhookDisabled(mails),
  })
  return {
    webhooks: new Webhooks({ ...core, anyNetwork }),
    jobs: [
      {
        name: 'send webhooks',
        on: 'one node',
        every: SECOND,
        hasWork: () => sending.hasWork(),
        run: (mayGoOn) => sending.run(mayGoOn),
      },
      {
        name: 'forget old webhook deliveries',
        on: 'one node',
        every: HOUR,
        run: (mayGoOn) => sending.forgetOld(mayGoOn),
      },
    ],
    stop: () => sending.stop(),
  }
}
