import {
  type Webhook,
  type WebhookDelivery,
  webhookAnswer,
  webhookDeliveriesAnswer,
  webhookDeliveryAnswer,
  webhookMadeAnswer,
  webhooksAnswer,
} from '../../../src/contract/events.ts'
import { doneWithMessage } from '../../../src/contract/fields.ts'
import type { EventKind } from '../../../src/domain/event-kinds.ts'
import { fetchJson, jsonRequest } from '../../shared/fetch-json.ts'

/** Every call about webhooks. All throw RequestFailure. */

const pathOf = ({ id }: Pick<Webhook, 'id'>) => `/api/v1/webhooks/${id}`

/** From oldest to newest. */
export async function fetchWebhooks(): Promise<readonly Webhook[]> {
  return (await fetchJson(webhooksAnswer, '/api/v1/webhooks')).data
}

/** Returns its secret. `kinds`: null for all. */
export async function addWebhook(url: string, kinds: readonly EventKind[] | null): Promise<string> {
  return (await fetchJson(webhookMadeAnswer, '/api/v1/webhooks', jsonRequest('POST', { url, kinds }))).data
    .secret
}

export interface WebhookChange {
  readonly url?: string
  /** null: all. */
  readonly kinds?: readonly EventKind[] | null
}

export async function changeWebhook(webhook: Webhook, change: WebhookChange): Promise<void> {
  await fetchJson(webhookAnswer, pathOf(webhook), jsonRequest('PATCH', change))
}

export async function setEnabled(webhook: Webhook, enabled: boolean): Promise<void> {
  await fetchJson(webhookAnswer, pathOf(webhook), jsonRequest('PATCH', { enabled }))
}

export async function removeWebhook(webhook: Webhook): Promise<void> {
  await fetchJson(doneWithMessage, pathOf(webhook), { method: 'DELETE' })
}

export async function sendTest(webhook: Webhook): Promise<void> {
  await fetchJson(webhookDeliveryAnswer, `${pathOf(webhook)}/test`, { method: 'POST' })
}

/** The newest ones. */
export async function fetchDeliveries(webhook: Pick<Webhook, 'id'>): Promise<readonly WebhookDelivery[]> {
  return (await fetchJson(webhookDeliveriesAnswer, `${pathOf(webhook)}/deliveries?per_page=${SHOWN}`)).data
}

const SHOWN = 20

export async function sendAgain(webhook: Webhook, { id }: WebhookDelivery): Promise<void> {
  await fetchJson(webhookDeliveryAnswer, `${pathOf(webhook)}/deliveries/${id}/replay`, { method: 'POST' })
}
