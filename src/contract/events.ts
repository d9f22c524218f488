import * as z from 'zod/mini'
import { changeKinds, END_REASONS, EVENT_KINDS, STORED_EVENT_KINDS } from '../domain/event-kinds.ts'
import { DELIVERY_FAILURES } from '../domain/webhook.ts'
import {
  component,
  dataOf,
  described,
  extended,
  optionalTimestamp,
  pageOf,
  sizeField,
  timestampField,
} from './fields.ts'
import { linkEvent } from './links.ts'

export const webhook = component(
  'Webhook',
  z.object({
    id: z.int(),
    url: described(z.string(), { example: 'https://hooks.example.org/holdfast' }),
    kinds: described(z.nullable(z.array(z.enum(EVENT_KINDS))), {
      description: 'What it is told of; null: all',
    }),
    created_at: timestampField,
    failing_since: described(optionalTimestamp, {
      description: 'Since when no attempt has succeeded; null while they do',
    }),
    disabled_at: described(optionalTimestamp, {
      description:
        'null while it is in use. It is disabled after a day without success, and when it answers 410',
    }),
  }),
)
export type Webhook = z.infer<typeof webhook>

/** The only answer with the secret. */
const newWebhook = component(
  'NewWebhook',
  extended(webhook, {
    secret: described(z.string(), {
      description: 'Signs what is sent; shown this once',
      example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    }),
  }),
)

export const webhooksAnswer = dataOf(z.array(webhook))
export const webhookAnswer = dataOf(webhook)
export const webhookMadeAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: newWebhook,
})

export const webhookDelivery = component(
  'WebhookDelivery',
  z.object({
    id: z.int(),
    event: described(z.string(), {
      description: '"webhook-id" of all its attempts',
      example: 'evt_9f86d081884c7d659a2feaa0c55ad015',
    }),
    kind: z.enum(STORED_EVENT_KINDS),
    at: timestampField,
    state: described(z.enum(['waiting', 'delivered', 'failed']), {
      description: '"waiting" for its first attempt or the next one',
    }),
    tries: described(z.int(), { description: 'Attempts that failed', example: 2 }),
    next_at: described(optionalTimestamp, { description: 'When it is tried next' }),
    delivered_at: optionalTimestamp,
    status: described(z.nullable(z.int()), { description: 'Of the last answer', example: 503 }),
    failure: described(z.nullable(z.enum(DELIVERY_FAILURES)), {
      description:
        'Why the last attempt failed: no connection, also where the host has no public address, no answer in 15 s, an answer other than 2xx, or the webhook was disabled',
    }),
  }),
)
export type WebhookDelivery = z.infer<typeof webhookDelivery>

export const webhookDeliveriesAnswer = pageOf(webhookDelivery)
export const webhookDeliveryAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: webhookDelivery,
})

export const webhookEvent = component(
  'WebhookEvent',
  z.object({
    type: z.enum(STORED_EVENT_KINDS),
    timestamp: timestampField,
    data: z.object({
      link: described(z.nullable(z.object({ slug: z.string(), url: z.string() })), {
        description: 'null for what is not about a link',
      }),
      file: z.nullable(z.object({ id: z.nullable(z.int()), name: z.string() })),
      bytes: z.nullable(sizeField),
      times: z.int(),
      reason: z.nullable(z.enum(END_REASONS)),
      address: z.nullable(z.string()),
    }),
  }),
)
export type WebhookEvent = z.infer<typeof webhookEvent>

const change = component(
  'Change',
  z.object({
    kind: z.enum(changeKinds),
    file: described(z.optional(z.int()), { description: 'The number of the file' }),
    folder: described(z.optional(z.string()), { description: 'The identifier of the folder' }),
    place: described(z.optional(z.string()), {
      description: 'The folder it is in, or was in until now; "root" for the top level',
    }),
    from: described(z.optional(z.string()), { description: 'The folder it was moved from' }),
  }),
)
export type ChangeEvent = z.infer<typeof change>

const accountEvent = component(
  'AccountEvent',
  z.object({
    kind: described(z.enum(EVENT_KINDS), { example: 'link.arrived' }),
    at: timestampField,
    link: described(z.nullable(z.string()), { description: 'Its slug; null for what is not about a link' }),
    ...z.pick(linkEvent, { file: true, bytes: true, times: true, reason: true, address: true }).shape,
  }),
)
export type AccountEvent = z.infer<typeof accountEvent>

export const streamedEvent = z.union([change, accountEvent])
