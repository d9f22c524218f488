import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { type AccountEvent, type ChangeEvent, streamedEvent } from '../contract/events.ts'
import type { AccountCaller } from '../core/callers.ts'
import { eventFields } from '../core/link-events.rows.ts'
import { timestamp } from '../domain/clock.ts'
import { type ChangeId, wholeNumber } from '../domain/ids.ts'
import { endpoint } from '../server/endpoint.ts'
import type { EventsModule } from './events.module.ts'
import type { Watcher, WatcherMessage } from './watcher.ts'

export const watchEventsEndpoint = endpoint({
  documentation: {
    summary: 'Stream events',
    description: 'Changes in your account and what happens to its links, as server-sent events.',
    tag: 'Account',
    headers: z.object({
      'Last-Event-ID': z
        .string()
        .optional()
        .openapi({ description: 'The id of the last event that was received: those after it are sent' }),
    }),
    answers: {
      200: { description: 'Events as they happen', schema: streamedEvent, type: 'text/event-stream' },
    },
    errors: [],
  },
  streams: 'out',
  async handle(
    call,
    { authentication, events }: { authentication: Authentication; events: EventsModule },
    caller: AccountCaller,
  ) {
    // A watcher for HEAD would have no reader, and never end.
    if (call.request.method === 'HEAD') return new Response(null, { headers: HEADERS })
    const after = lastEventId(call.request.headers.get('last-event-id'))
    const watcher = await events.watch(caller, after, () => authentication.isStillLetIn(call))
    return new Response(
      eventStream(watcher, (told) => eventText(events, told)),
      { headers: HEADERS },
    )
  },
})

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // A buffering proxy would hold events back.
  'X-Accel-Buffering': 'no',
}

/** Null without one. A malformed id counts as unknown. */
function lastEventId(header: string | null): ChangeId | null {
  if (header === null || header === '') return null
  return (wholeNumber(header) ?? -1) as ChangeId
}

function eventStream(
  watcher: Watcher,
  text: (told: WatcherMessage) => Promise<string>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isOver = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const told = await watcher.next()
        const said = told === null ? null : await text(told)
        if (isOver) return
        if (said === null) controller.close()
        else controller.enqueue(encoder.encode(said))
      },
      cancel() {
        isOver = true
        watcher.end()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Format: https://html.spec.whatwg.org/multipage/server-sent-events.html */
async function eventText(events: EventsModule, told: WatcherMessage): Promise<string> {
  switch (told.kind) {
    case 'ready':
    case 'reload':
      return `event: ${told.kind}\nid: ${told.at}\nretry: 2000\ndata: {}\n\n`
    case 'still':
      return ': still here\n\n'
    case 'change': {
      if (told.change.kind === 'link') return linkText(told.at, await events.linkEvent(told.change))
      const { file_id, folder, place, from_place } = told.change
      const data: ChangeEvent = {
        kind: told.change.kind,
        ...(file_id === null ? {} : { file: file_id }),
        ...(folder === null ? {} : { folder }),
        ...(place === null ? {} : { place }),
        ...(from_place === null ? {} : { from: from_place }),
      }
      return `event: change\nid: ${told.at}\ndata: ${JSON.stringify(data)}\n\n`
    }
  }
}

function linkText(at: ChangeId, event: Awaited<ReturnType<EventsModule['linkEvent']>>): string {
  if (event === undefined || event.kind === 'webhook.test') return ': gone\n\n'
  const { kind, link } = event
  const data: AccountEvent = { kind, at: timestamp(event.at), link, ...eventFields(event) }
  return `event: link\nid: ${at}\ndata: ${JSON.stringify(data)}\n\n`
}
