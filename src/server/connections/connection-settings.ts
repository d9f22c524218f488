import { createServer } from 'node:http'
import { SECOND } from '../../domain/clock.ts'
import type { Ceiling, Listening } from './listening.ts'
import { pathOfAddress } from './request-address.ts'

/** A `node:http` server that does not listen yet, with limits for heads and connections. */
export function limitedServer({ headWithin, quiet, ceiling }: Listening): ReturnType<typeof createServer> {
  // Readers time the bodies themselves, idle connections are kept as long as Bun keeps its own, and a missing
  // Host is refused by our own code.
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

/** Closes connections beyond the limit of an address. */
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

/**
 * Returns a predicate: whether the path is one of these, with parameters as `:name`, and none of the plain ones, without
 * parameters, that they would match.
 */
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
