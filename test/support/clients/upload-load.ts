/** Clients that upload files continuously, to several nodes in turn, and record the answers. */

import type { Chance } from '../chance.ts'
import { patient } from '../patience.ts'
import { sha256, uploadResult } from './caller.ts'

export interface Attempt {
  /** Unique among attempts. */
  readonly name: string
  /** Address of the node that received the request. */
  readonly node: string
  readonly sha256: string
  readonly size: number
  /** The answer; null when the connection ended without one, or none arrived in time. */
  readonly answer: {
    readonly status: number
    readonly retryAfter: string | null
    /** Slug of the new file, after a success. */
    readonly slug: string | null
    readonly body: string
  } | null
}

export interface LoadOptions {
  /** Addresses, used in turn. */
  readonly nodes: readonly string[]
  readonly key: string
  readonly clients: number
  /** Sizes in bytes, chosen at random. */
  readonly sizes: readonly number[]
  readonly random: Chance
}

export interface Load {
  readonly attempts: readonly Attempt[]
  /** Lets the uploads under way finish. */
  stop(): Promise<void>
}

/** Milliseconds that exceed all time limits of the server together. */
const PATIENCE = patient(90)

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
        // A kept-alive connection may close between requests, and fetch would then send the request twice.
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
