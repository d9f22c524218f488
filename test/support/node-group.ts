/** What a test speaks with: one node by itself, or three behind a balancer that chooses by chance. */
import { startHoldfast } from '../../src/app.ts'
import { settingsInForce } from '../../src/config.ts'
import type { Log } from '../../src/log.ts'
import type { Parts } from '../../src/storage.ts'
import { BALANCER_ADDRESS, startBalancer } from './balancer.ts'
import { ends } from './eventually.ts'
import { freePort } from './free-port.ts'

export interface NodeGroup {
  /** Where requests go. */
  readonly url: string
  /** One node's own address, for tests of how we read HTTP that a balancer would read first. */
  readonly nodeUrl: string
  /** Writes every node's counters and runs every background job once, on one node. */
  runJobs(): Promise<void>
  /** Returns when what the nodes have counted so far is seen by all of them. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export type NodeParts = Parts & { readonly log: Log }

const NODES = 3

export async function startOneNode(parts: NodeParts): Promise<NodeGroup> {
  const node = await startHoldfast({ ...parts, settings: settingsInForce({}) })
  return {
    url: node.url,
    nodeUrl: node.url,
    runJobs: () => node.runJobs(),
    // It counts what it has not written yet.
    settle: async () => {},
    stop: () => ends('the node', node.stop()),
  }
}

/**
 * Nodes that share the database, the store, the clock and their public address, which is the balancer's.
 *
 * Bun sends 256 requests at a time for the whole process, and those that the nodes send to the store are among them: a
 * test that has more than 200 under way at once would wait for ever.
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
  // All at once, as after a power cut: each of them finds a bucket and first rows that another may just be making.
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
      // What is under way ends well behind the balancer.
      try {
        await Promise.all(nodes.map((node, at) => ends(`node ${at}`, node.stop())))
      } finally {
        await ends('the balancer', balancer.stop())
      }
    },
  }
}
