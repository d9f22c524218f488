import * as z from 'zod/mini'
import {
  deliveryList,
  type NewWebhook,
  newWebhook,
  type WebhookDeliveryItem,
  type WebhookItem,
  webhookList,
} from './answers.ts'

export interface WebhookChange {
  readonly url?: string
  /** Null for all. */
  readonly kinds?: readonly string[] | null
}

export interface WebhooksApi {
  list(): Promise<WebhookItem[]>
  add(url: string, kinds: readonly string[] | null): Promise<NewWebhook>
  change(id: number, change: WebhookChange): Promise<void>
  enable(id: number): Promise<void>
  remove(id: number): Promise<void>
  test(id: number): Promise<void>
  deliveries(id: number): Promise<WebhookDeliveryItem[]>
  replay(id: number, delivery: number): Promise<void>
}

type Get = <T>(path: string, shape: z.ZodMiniType<T>) => Promise<T>
type Send = <T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body: unknown,
  shape: z.ZodMiniType<T>,
) => Promise<T>

const WEBHOOKS = '/api/v1/webhooks'
const anything = z.unknown()

export function createWebhooksApi(get: Get, send: Send): WebhooksApi {
  return {
    list: async () => (await get(WEBHOOKS, webhookList)).data,
    add: async (url, kinds) => (await send('POST', WEBHOOKS, { url, kinds }, newWebhook)).data,
    async change(id, change) {
      await send('PATCH', `${WEBHOOKS}/${id}`, change, anything)
    },
    async enable(id) {
      await send('PATCH', `${WEBHOOKS}/${id}`, { enabled: true }, anything)
    },
    async remove(id) {
      await send('DELETE', `${WEBHOOKS}/${id}`, {}, anything)
    },
    async test(id) {
      await send('POST', `${WEBHOOKS}/${id}/test`, {}, anything)
    },
    deliveries: async (id) => (await get(`${WEBHOOKS}/${id}/deliveries?per_page=100`, deliveryList)).data,
    async replay(id, delivery) {
      await send('POST', `${WEBHOOKS}/${id}/deliveries/${delivery}/replay`, {}, anything)
    },
  }
}
