/** A client of an account's event stream, like a browser's EventSource. */
import { z } from 'zod'
import { eventually } from '../eventually.ts'
import type { TestHoldfast } from '../servers/holdfast.ts'

const data = z.looseObject({ kind: z.string().optional() })

export interface SentEvent {
  readonly event: string
  readonly id: string
  readonly data: z.infer<typeof data>
}

export interface EventWatcher extends AsyncDisposable {
  readonly response: Response
  /** All events received so far. */
  readonly events: readonly SentEvent[]
  /** Waits for an event that matches. */
  until(isWanted: (event: SentEvent) => boolean): Promise<SentEvent>
  /** Waits until the server has ended the stream. */
  over(): Promise<void>
}

/** Opens the stream and waits for the first event. */
export async function watchEvents(
  holdfast: Pick<TestHoldfast, 'url'>,
  apiKey: string,
  lastEventId?: string,
): Promise<EventWatcher> {
  const gone = new AbortController()
  const response = await fetch(`${holdfast.url}/api/v1/events`, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: gone.signal,
  })
  const events: SentEvent[] = []
  let isOver = false
  const reading = read(response, events)
    .catch(() => {})
    .finally(() => {
      isOver = true
    })

  const watcher: EventWatcher = {
    response,
    events,
    async until(isWanted) {
      await eventually('an event', async () => events.some(isWanted))
      const event = events.find(isWanted)
      if (event === undefined) throw new Error('the event is gone')
      return event
    },
    over: () => eventually('the end of the events', async () => isOver),
    async [Symbol.asyncDispose]() {
      gone.abort()
      await reading
    },
  }
  await eventually('the first event', async () => events.length > 0 || isOver)
  return watcher
}

async function read(response: Response, events: SentEvent[]): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => splitAt(line, ': ')))
      const event = fields.get('event')
      if (event === undefined) continue
      events.push({
        event,
        id: fields.get('id') ?? '',
        data: data.parse(JSON.parse(fields.get('data') ?? '{}')),
      })
    }
  }
}

function splitAt(line: string, mark: string): [string, string] {
  const at = line.indexOf(mark)
  return [line.slice(0, at), line.slice(at + mark.length)]
}
