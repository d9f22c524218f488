import { findAccount } from '../core/accounts.rows.ts'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import type { Trx } from '../database/database.ts'
import { DAY, HOUR, SECOND } from '../domain/clock.ts'
import type { DisablingReason } from '../domain/webhook.ts'
import { findMailAddress } from '../mail/mail-addresses.rows.ts'
import type { EndableMails } from '../mail/outbox.ts'
import { createWebhookSender } from './webhook-request.ts'
import { WebhookSending } from './webhook-sending.job.ts'
import type { WebhookRow } from './webhooks.rows.ts'
import { Webhooks } from './webhooks.ts'

export type WebhooksModule = ReturnType<typeof createWebhooksModule>

export function createWebhooksModule(core: Core, mails: EndableMails, version: string) {
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
    ] satisfies Job[],
    stop: () => sending.stop(),
  }
}

const LASTS = 3 * DAY

/** Notifies the owner in the transaction that disables a webhook. */
function webhookDisabled({ outbox, unsubscribePath }: EndableMails) {
  return async (trx: Trx, webhook: WebhookRow, reason: DisablingReason): Promise<void> => {
    const { account_id: account, url } = webhook
    const mail = await findMailAddress(trx, account)
    const owner = await findAccount(trx, account)
    if (mail === undefined || mail.address === null || mail.warnings === 0 || owner === undefined) return
    await outbox.put(trx, {
      account,
      to: mail.address,
      language: mail.language,
      content: {
        kind: 'webhook disabled',
        username: owner.username,
        url,
        isGone: reason === 'gone',
        unsubscribePath: unsubscribePath(account),
      },
      lasts: LASTS,
    })
  }
}
