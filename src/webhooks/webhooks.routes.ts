import { z } from '@hono/zod-openapi'
import { assertRecentAuthentication } from '../accounts/sign-in/reauthentication.ts'
import type { SignInModule } from '../accounts/sign-in.module.ts'
import {
  type Webhook,
  type WebhookDelivery,
  webhookAnswer,
  webhookDeliveriesAnswer,
  webhookDeliveryAnswer,
  webhookMadeAnswer,
  webhook as webhookShape,
  webhooksAnswer,
} from '../contract/events.ts'
import { doneWithMessage } from '../contract/fields.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { EVENT_KINDS } from '../domain/event-kinds.ts'
import type { WebhookDeliveryId, WebhookId } from '../domain/ids.ts'
import { keyedEndpoint } from '../server/endpoint.ts'
import {
  assertChange,
  assertKnownFields,
  MAX_PAGE,
  paginationOf,
  parseRowId,
  queryNumber,
  READ_ONLY_ALLOWED,
} from '../server/requests/fields.ts'
import { eventIdOf } from './webhook-sending.job.ts'
import type { WebhooksModule } from './webhooks.module.ts'
import type { DeliveryRow, WebhookRow } from './webhooks.rows.ts'

interface Needs {
  readonly webhooks: WebhooksModule
}

function toWebhook({ id, url, kinds, ...times }: WebhookRow): Webhook {
  return {
    id,
    url,
    kinds: kinds === '' ? null : EVENT_KINDS.filter((kind) => kinds.split(' ').includes(kind)),
    created_at: timestamp(times.created_at),
    failing_since: optionalTime(times.failing_since),
    disabled_at: optionalTime(times.disabled_at),
  }
}

function toDelivery(row: DeliveryRow): WebhookDelivery {
  const { id, kind, at, tries, due_at, delivered_at, status, failure } = row
  return {
    id,
    event: eventIdOf(row),
    kind,
    at: timestamp(at),
    state: due_at !== null ? 'waiting' : delivered_at === null ? 'failed' : 'delivered',
    tries,
    next_at: optionalTime(due_at),
    delivered_at: optionalTime(delivered_at),
    status,
    failure,
  }
}

const url = z
  .string('must be an address')
  .openapi({ description: 'http or https; its host must have an address on the Internet' })
const kinds = z
  .array(z.enum(EVENT_KINDS, `must be of ${EVENT_KINDS.join(', ')}`), 'must be a list')
  .min(1, 'must hold at least one')
  .nullish()
  .openapi({ description: 'null or missing: all', example: ['link.arrived', 'link.first_download'] })
const parameter = z.object({ id: z.string().openapi({ description: 'The number of the webhook' }) })
const idOf = (text: string | undefined) => parseRowId<WebhookId>(text)

export const listWebhooksEndpoint = keyedEndpoint({
  summary: 'List webhooks',
  description: 'Oldest first.',
  tag: 'Webhooks',
  answer: webhooksAnswer,
  async handle({ caller }, { webhooks }: Needs) {
    return { success: true, data: (await webhooks.webhooks.list(caller)).map(toWebhook) }
  },
})

export const addWebhookEndpoint = keyedEndpoint({
  summary: 'Create a webhook',
  description: 'Events are posted to its address, signed as Standard Webhooks. An account has up to ten.',
  tag: 'Webhooks',
  body: z
    .object({
      url,
      kinds,
      secret: z.string('must be text').nullish().openapi({
        description: '"whsec_" and 24 to 64 bytes in base64. Without it one is made',
        example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
      }),
    })
    .loose(),
  status: 201,
  answer: webhookMadeAnswer,
  errors: [400, 413],
  async handle({ call, caller, body }, { webhooks, signIn }: Needs & { readonly signIn: SignInModule }) {
    assertKnownFields(body, ['url', 'kinds', 'secret'])
    if (caller.by.kind === 'session') assertRecentAuthentication(call, signIn.reauthentication)
    const wanted = { url: body.url, kinds: body.kinds ?? null, secret: body.secret ?? null }
    const made = await webhooks.webhooks.add(caller, wanted)
    const data = { ...toWebhook(made), secret: made.secret }
    return { success: true, message: 'Webhook added; send it a test', data }
  },
})

export const getWebhookEndpoint = keyedEndpoint({
  summary: 'Get a webhook',
  tag: 'Webhooks',
  params: parameter,
  answer: webhookAnswer,
  errors: [404],
  async handle({ caller, params }, { webhooks }: Needs) {
    return { success: true, data: toWebhook(await webhooks.webhooks.get(caller, idOf(params.id))) }
  },
})

export const changeWebhookEndpoint = keyedEndpoint({
  summary: 'Update a webhook',
  description: 'Also disables and enables it.',
  tag: 'Webhooks',
  params: parameter,
  body: z
    .looseObject({
      url: url.optional().openapi({ description: 'Another one gets what waits, too; the secret stays' }),
      kinds,
      enabled: z.boolean('must be true or false').optional().openapi({
        description: 'false: what waits is not sent, and nothing that happens from now on',
      }),
    })
    .openapi({ description: READ_ONLY_ALLOWED }),
  answer: webhookAnswer,
  errors: [400, 404, 413],
  async handle(
    { call, caller, params, body },
    { webhooks, signIn }: Needs & { readonly signIn: SignInModule },
  ) {
    assertChange(body, ['enabled', ...Object.keys(webhookShape.shape)])
    if (body.url !== undefined && caller.by.kind === 'session')
      assertRecentAuthentication(call, signIn.reauthentication)
    const changed = await webhooks.webhooks.change(caller, idOf(params.id), {
      ...(body.url === undefined ? {} : { url: body.url }),
      ...(body.kinds === undefined ? {} : { kinds: body.kinds }),
      ...(body.enabled === undefined ? {} : { isEnabled: body.enabled }),
    })
    return { success: true, data: toWebhook(changed) }
  },
})

export const removeWebhookEndpoint = keyedEndpoint({
  summary: 'Delete a webhook',
  description: 'What waits for it is not sent.',
  tag: 'Webhooks',
  params: parameter,
  answer: doneWithMessage,
  errors: [404],
  async handle({ caller, params }, { webhooks }: Needs) {
    await webhooks.webhooks.remove(caller, idOf(params.id))
    return { success: true, message: 'Webhook removed' }
  },
})

export const testWebhookEndpoint = keyedEndpoint({
  summary: 'Test a webhook',
  description: 'Sends "webhook.test". Its deliveries tell the result.',
  tag: 'Webhooks',
  params: parameter,
  answer: webhookDeliveryAnswer,
  errors: [400, 404],
  async handle({ caller, params }, { webhooks }: Needs) {
    const data = toDelivery(await webhooks.webhooks.test(caller, idOf(params.id)))
    return { success: true, message: 'The test is on its way', data }
  },
})

export const listDeliveriesEndpoint = keyedEndpoint({
  summary: 'List the deliveries of a webhook',
  description: 'What was sent and what is waiting, newest first. Kept for 7 days.',
  tag: 'Webhooks',
  params: parameter,
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
  }),
  answer: webhookDeliveriesAnswer,
  errors: [400, 404],
  async handle({ caller, params, query }, { webhooks }: Needs) {
    const [page, perPage] = [query.page ?? 1, query.per_page ?? 20]
    const found = await webhooks.webhooks.deliveries(caller, idOf(params.id), page, perPage)
    return {
      success: true,
      data: found.deliveries.map(toDelivery),
      pagination: paginationOf(page, perPage, found.total),
    }
  },
})

export const replayDeliveryEndpoint = keyedEndpoint({
  summary: 'Replay a delivery',
  description: 'Under the same "webhook-id".',
  tag: 'Webhooks',
  params: parameter.extend({ delivery: z.string().openapi({ description: 'The number of the delivery' }) }),
  answer: webhookDeliveryAnswer,
  errors: [400, 404],
  async handle({ caller, params }, { webhooks }: Needs) {
    const delivery = parseRowId<WebhookDeliveryId>(params.delivery)
    const data = toDelivery(await webhooks.webhooks.replay(caller, idOf(params.id), delivery))
    return { success: true, message: 'The event is on its way', data }
  },
})
