/** Clients that upload one file after the other, now here, now there, and note what they were told. */
import { sha256, uploadResult } from './caller.ts'
import type { Chance } from './chance.ts'

export interface Attempt {
  /** No other attempt has it. */
  readonly name: string
  /** The address of the node that was asked. */
  readonly node: string
  readonly sha256: string
  readonly size: number
  /** What came back; null when the connection ended without an answer, or none came in time. */
  readonly answer: {
    readonly status: number
    readonly retryAfter: string | null
    /** The new file's, when it was a success. */
    readonly slug: string | null
    readonly body: string
  } | null
}

export interface LoadOptions {
  /** Addresses; each attempt goes to the next one. */
  readonly nodes: readonly string[]
  readonly key: string
  readonly clients: number
  /** Bytes; each attempt takes one of them by chance. */
  readonly sizes: readonly number[]
  readonly random: Chance
}

export interface Load {
  readonly attempts: readonly Attempt[]
  /** Lets those under way finish. */
  stop(): Promise<void>
}

/** No answer may take longer than every limit of the server together. */
const PATIENCE = 90_000

export function startLoad({ nodes, key, clients, sizes, random }: LoadOptions): Load {
  const attempts: Attempt[] = []
  let begun = 0
  let stopped = false

  async function attempt(number: number): Promise<void> {
    const name = `load-${number}.bin`
    const content = random.bytes(random.pick(sizes))
    const form = new FormData()
    form.set('file', new File([content], name))
    const node = nodes[number % nodes.length] ?? ''
    const known = { name, node, size: content.length, sha256: sha256(content) }
    try {
      const response = await fetch(`${node}/api/v1/upload`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: form,
        // A kept connection may close between two requests, and fetch would send the second one twice.
        keepalive: false,
        signal: AbortSignal.timeout(PATIENCE),
      })
      const body = await response.text()
      const { status, headers } = response
      const slug = status === 200 ? uploadResult.parse(JSON.parse(body)).slug : null
      attempts.push({ ...known, answer: { status, retryAfter: headers.get('retry-after'), slug, body } })
    } catch {
      attempts.push({ ...known, answer: null })
    }
  }

  async function client(): Promise<void> {
    while (!stopped) await attempt(begun++)
  }

  const running = Promise.all(Array.from({ length: clients }, client))
  return {
    attempts,
    async stop() {
      stopped = true
      await running
    },
  }
}
