/**
 * A proxy in front of an S3 store that injects faults: it cuts, stalls, answers for the store, drops
 * responses and corrupts bytes. Requests must be signed for the proxy's address.
 */

import { connect, createServer, type Socket } from 'node:net'
import { type Fault, pass, receiveHead, without } from './fault-connection.ts'

export interface ProxiedRequest {
  readonly method: string
  /** Path with query. */
  readonly path: string
}

export interface FaultProxy {
  readonly url: string
  /** All requests so far, with or without a fault. */
  readonly requests: readonly ProxiedRequest[]
  /** Applies the fault to matching requests: the next one, so many, or all from now on (`Infinity`). */
  inject(fault: Fault, options?: { match?: (request: ProxiedRequest) => boolean; times?: number }): void
  /** Removes all faults. */
  heal(): void
  /** Number of open connections. */
  connections(): number
  stop(): Promise<void>
}

interface Rule {
  readonly fault: Fault
  readonly match: (request: ProxiedRequest) => boolean
  left: number
}

/** `target`: the store's address, `http://host:port`. The proxy listens on the loopback interface only. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  const requests: ProxiedRequest[] = []
  const open = new Set<Socket>()
  let rules: Rule[] = []

  function faultFor(request: ProxiedRequest): Fault | null {
    const rule = rules.find(({ left, match }) => left > 0 && match(request))
    if (rule === undefined) return null
    rule.left--
    return rule.fault
  }

  const server = createServer((client) => {
    open.add(client)
    client.on('error', () => {})
    client.on('close', () => open.delete(client))
    receiveHead(client, (head, rest) => {
      const [method = '', path = ''] = head.slice(0, head.indexOf('\r\n')).split(' ')
      const request = { method, path }
      requests.push(request)
      // One request per connection, so that the end of the connection ends the response.
      const changed = without(head, 'connection').replace('\r\n', '\r\nConnection: close\r\n')
      pass({ client, head: changed, rest, dial }, faultFor(request))
    })
  })

  function dial(): Socket {
    const store = connect(Number(port), hostname)
    open.add(store)
    store.on('close', () => open.delete(store))
    return store
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy listens nowhere')

  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    inject(fault, { match = () => true, times = 1 } = {}) {
      rules.push({ fault, match, left: times })
    },
    heal() {
      rules = []
    },
    connections: () => open.size,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
