/** The servers of a test: one node, or three behind a balancer that chooses randomly. */
import { startHoldfast } from '../../../src/app.ts'
import { settingsInForce } from '../../../src/config.ts'
import type { DiskPressure } from '../../../src/contents/pace.ts'
import type { Log } from '../../../src/log.ts'
import type { ListenWay } from '../../../src/server/connections/listener.ts'
import type { StorageOptions } from '../../../src/storage.ts'
import { ends } from '../eventually.ts'
import { freePort } from '../processes/free-port.ts'
import { BALANCER_ADDRESS, startBalancer } from './balancer.ts'

export interface NodeGroup {
  /** Address for requests. */
  readonly url: string
  /** A node's own address, for tests of malformed HTTP, which a balancer would handle itself. */
  readonly nodeUrl: string
  /** Writes every node's counters and runs every background job once, on one node. */
  runJobs(): Promise<void>
  /** Resolves when what the nodes have counted so far is visible to all of them. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export type NodeParts = StorageOptions & {
  readonly log: Log
  readonly way?: ListenWay
  readonly diskPressure: DiskPressure
}

const NODES = 3

export async function startOneNode(parts: NodeParts): Promise<NodeGroup> {
  const node = await startHoldfast({ ...parts, settings: settingsInForce({}) })
  return {
    url: node.url,
    nodeUrl: node.url,
    runJobs: () => node.runJobs(),
    // A node includes its unwritten counts.
    settle: async () => {},
    stop: () => ends('the node', node.stop()),
  }
}

/**
 * Nodes that share the database, the store, the clock and their public address, which is the balancer's.
 *
 * Bun limits a process to 256 concurrent requests, including those of the nodes to the store: a test with
 * more than 200 under way at once would deadlock.
 */
export async function startCluster({ config, ...parts }: NodeParts): Promise<NodeGroup> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const nodeConfig = {
    ...config,
    host: '127.0.0.1',
    port: 0,
    publicUrl: config.publicUrl ?? url,
    trustedProxies: [BALANCER_ADDRESS, ...config.trustedProxies],
  }
  await using started = new AsyncDisposableStack()
  // Started concurrently, as after a power cut: each may find the bucket and the first rows half created by
  // another.
  const launched = await Promise.allSettled(
    Array.from({ length: NODES }, () =>
      startHoldfast({ ...parts, settings: settingsInForce({}), config: nodeConfig }),
    ),
  )
  const nodes = launched
    .filter((launch) => launch.status === 'fulfilled')
    .map(({ value }) => started.adopt(value, (node) => node.stop()))
  for (const launch of launched) if (launch.status === 'rejected') throw launch.reason
  const [first] = nodes
  if (first === undefined) throw new Error('a cluster has nodes')
  const balancer = await startBalancer(
    port,
    nodes.map((node) => Number(new URL(node.url).port)),
  )
  started.move()

  async function settle(): Promise<void> {
    await Promise.all(nodes.map((node) => node.flush()))
  }
  return {
    url,
    nodeUrl: first.url,
    async runJobs() {
      await settle()
      await first.runJobs()
    },
    settle,
    async stop() {
      // The balancer stays until the nodes have completed what is under way.
      try {
        await Promise.all(nodes.map((node, at) => ends(`node ${at}`, node.stop())))
      } finally {
        await ends('the balancer', balancer.stop())
      }
    },
  }
}
