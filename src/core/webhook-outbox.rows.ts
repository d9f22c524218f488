import type { Trx } from '../database/database.ts'
import type { EventKind } from '../domain/event-kinds.ts'
import type { AccountId, LinkEventId, WebhookDeliveryId, WebhookId } from '../domain/ids.ts'

/** Per webhook. Further events are only logged. */
export const MOST_WAITING_DELIVERIES = 1000

export async function queueEvent(
  trx: Trx,
  account: AccountId,
  event: { readonly id: LinkEventId; readonly kind: EventKind },
  now: number,
): Promise<void> {
  const webhooks = await trx
    .selectFrom('webhooks')
    .select(['id', 'kinds', 'rest_until'])
    .where('account_id', '=', account)
    .where('disabled_at', 'is', null)
    .execute()
  for (const { id, kinds, rest_until } of webhooks) {
    if (kinds !== '' && !kinds.split(' ').includes(event.kind)) continue
    if ((await countWaiting(trx, id)) >= MOST_WAITING_DELIVERIES) continue
    await queueDelivery(trx, id, event.id, { now, due: Math.max(now, rest_until) })
  }
}

export async function queueDelivery(
  trx: Trx,
  webhook: WebhookId,
  event: LinkEventId,
  { now, due }: { readonly now: number; readonly due: number },
): Promise<WebhookDeliveryId> {
  const { id } = await trx
    .insertInto('webhook_deliveries')
    .values({ webhook_id: webhook, event_id: event, queued_at: now, due_at: due })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function countWaiting(trx: Trx, webhook: WebhookId): Promise<number> {
  const { count } = await trx
    .selectFrom('webhook_deliveries')
    .select((delivery) => delivery.fn.countAll<number>().as('count'))
    .where('webhook_id', '=', webhook)
    .where('due_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function dropWebhooksOf(trx: Trx, account: AccountId): Promise<void> {
  await trx.deleteFrom('webhooks').where('account_id', '=', account).execute()
}
