/** A receiver of webhooks, which checks signatures as Standard Webhooks wants it. */
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { eventually } from '../eventually.ts'

const body = z.object({
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: z.object({
    link: z.object({ slug: z.string(), url: z.string() }).nullable(),
    file: z.object({ name: z.string() }).nullable(),
    bytes: z.number().nullable(),
    reason: z.string().nullable(),
  }),
})

export interface ReceivedEvent extends z.infer<typeof body> {
  readonly id: string
  readonly text: string
  readonly signature: string
  readonly sentAt: number
}

export interface WebhookReceiver {
  readonly url: string
  /** What has come, from the first on. */
  readonly events: readonly ReceivedEvent[]
  /** Status of the answers from now on, when it is known; null: none comes. */
  answer(status: number | null | Promise<number>): void
  /** Resolves with what has come once that is so many. */
  received(count: number, meanwhile?: () => Promise<void>): Promise<readonly ReceivedEvent[]>
  [Symbol.asyncDispose](): Promise<void>
}

export function startWebhookReceiver(): WebhookReceiver {
  const events: ReceivedEvent[] = []
  let status: number | null | Promise<number> = 204
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text()
      events.push({
        ...body.parse(JSON.parse(text)),
        id: request.headers.get('webhook-id') ?? '',
        signature: request.headers.get('webhook-signature') ?? '',
        sentAt: Number(request.headers.get('webhook-timestamp')),
        text,
      })
      return status === null ? new Promise<Response>(() => {}) : new Response(null, { status: await status })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/holdfast`,
    events,
    answer(next) {
      status = next
    },
    async received(count, meanwhile = async () => {}) {
      await eventually(`${count} events have come`, async () => {
        await meanwhile()
        return events.length >= count
      })
      return events
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** The signature that the event should have. */
export function signatureOf(secret: string, { id, sentAt, text }: ReceivedEvent): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${sentAt}.${text}`).digest('base64')}`
}
