import { findAccount } from '../core/accounts.rows.ts'
import type { Trx } from '../database/database.ts'
import { DAY } from '../domain/clock.ts'
import type { DisablingReason } from '../domain/webhook.ts'
import { findMailAddress } from '../mail/mail-addresses.rows.ts'
import type { EndableMails } from '../mail/outbox.ts'
import type { WebhookRow } from './webhooks.rows.ts'

const LASTS = 3 * DAY

/** Notifies the owner in the transaction that disables a webhook. */
export function webhookDisabled({ outbox, unsubscribePath }: EndableMails) {
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
