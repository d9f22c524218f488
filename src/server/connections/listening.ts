import { createServer } from 'node:http'
import { SECOND } from '../../domain/clock.ts'
import type { AnswerFailure, Flow } from './exchange.ts'
import { pathOfAddress } from './request-address.ts'
import type { Refuse } from './unreadable.ts'

export interface ListenOptions {
  readonly hostname: string
  readonly port: number
  /** Idle timeout in seconds, at most 255. */
  readonly quiet: number
  /** With parameters as `:name`; responses are of known length or endless. */
  readonly streaming: readonly string[]
  /** With large requests and short responses. */
  readonly receiving?: readonly string[]
  /** Exceptions, without parameters, to these patterns. */
  readonly plain?: readonly string[]
  readonly flow?: Flow | null
  readonly failed?: AnswerFailure
  readonly refuse?: Refuse
  /** Seconds for the head of a request. */
  readonly headWithin?: number
  /** Per address; further connections are closed. */
  readonly ceiling?: Ceiling
  readonly way?: ListenWay
}

/** The internal dispatch beneath Bun's `node:http`, or the documented `node:http`. */
export type ListenWay = 'dispatch' | 'node:http'

export interface Ceiling {
  readonly most: number
  readonly bucketOf: (address: string) => string | null
  readonly refused: () => void
}

export type Listening = Required<Omit<ListenOptions, 'way'>>

export interface HttpListener {
  readonly hostname: string
  readonly port: number
  readonly pendingRequests: number
  /** Resolves when the last connection has ended; `now` closes all. */
  stop(now: boolean): Promise<void>
}

export function limitedServer({ headWithin, quiet, ceiling }: Listening): ReturnType<typeof createServer> {
  // Readers time bodies, idle connections last as long as Bun's, and our own code refuses a missing Host.
  const node = createServer({
    requestTimeout: 0,
    headersTimeout: headWithin * SECOND,
    connectionsCheckingInterval: Math.ceil((headWithin * SECOND) / 6),
    keepAliveTimeout: quiet * SECOND,
    requireHostHeader: false,
  })
  limitConnections(node, ceiling)
  return node
}

function limitConnections(node: ReturnType<typeof createServer>, ceiling: Ceiling): void {
  const { most, bucketOf, refused } = ceiling
  const open = new Map<string, number>()
  node.on('connection', (socket) => {
    const bucket = bucketOf(socket.remoteAddress ?? '')
    if (bucket === null) return
    const others = open.get(bucket) ?? 0
    if (others >= most) {
      socket.destroy()
      refused()
      return
    }
    open.set(bucket, others + 1)
    socket.once('close', () => {
      const left = (open.get(bucket) ?? 1) - 1
      if (left === 0) open.delete(bucket)
      else open.set(bucket, left)
    })
  })
}

/** Matches `paths`, with `:name` parameters, except for the `plain` ones that they would match. */
export function matching(paths: readonly string[], plain: readonly string[]): (target: string) => boolean {
  const exceptions = new Set(plain)
  const patterns = paths.map((path) => path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+'))
  const pattern = new RegExp(`^(?:${patterns.join('|')})$`)
  return (target) => {
    const whole = target.startsWith('/') ? target : (pathOfAddress(target) ?? '')
    const query = whole.indexOf('?')
    const path = query < 0 ? whole : whole.slice(0, query)
    return pattern.test(path) && !exceptions.has(path)
  }
}
