/** What is done to a node whose bytes are in an S3 store. Its own database is SQLite, which costs it least. */

import type { S3Endpoint } from '../../test/support/storage/ceph.ts'
import { type ClientResult, runClient } from '../client-job.ts'
import { measuredContentAddress } from '../downloads.ts'
import { MIB, withUsage } from '../measure.ts'
import { type MeasuredHoldfast, startMeasuredHoldfast } from '../servers.ts'
import { SMALL_FILE, uploadTo } from '../uploads.ts'

const BIG = 128 * MIB
const TOKEN = 'token-of-the-benchmark'

export interface StoreNode extends MeasuredHoldfast {
  /** Where its sources are. */
  readonly tree: string
  readonly key: string
  /** Slugs of the big file and of a small one. */
  readonly big: string
  readonly small: string
}

/** Of one operation. */
export interface StoreCost {
  /** CPU time of the node. */
  readonly milliseconds: number
  /** Operations a second. */
  readonly rate: number
  /** Requests to the store by method. */
  readonly requests: Readonly<Record<string, number>>
}

export interface StoreWork {
  readonly name: string
  readonly title: string
  /** Whether it is for a node that sends its clients to the store. */
  readonly redirects?: true
  run(node: StoreNode, round: number): Promise<StoreCost>
}

let bucket = 0
/** Number of the next content. */
let content = 1

export async function startStoreNode(
  folder: string,
  of: {
    readonly endpoint: S3Endpoint
    readonly tree?: string | undefined
    readonly profile?: string | undefined
    readonly redirects?: boolean
  },
): Promise<StoreNode> {
  const { endpoint, tree, profile, redirects = false } = of
  const settings = {
    HOLDFAST_S3_ENDPOINT: endpoint.endpoint,
    HOLDFAST_S3_BUCKET: `bench-store-${process.pid}-${bucket++}`,
    HOLDFAST_S3_REGION: endpoint.region,
    HOLDFAST_S3_ACCESS_KEY_ID: endpoint.accessKeyId,
    HOLDFAST_S3_SECRET_ACCESS_KEY: endpoint.secretAccessKey,
    HOLDFAST_S3_PATH_STYLE: 'true',
    HOLDFAST_S3_REDIRECT: String(redirects),
    HOLDFAST_METRICS: 'on',
    HOLDFAST_METRICS_TOKEN: TOKEN,
  }
  const node = await startMeasuredHoldfast(folder, { settings, tree, profile })
  const key = await node.addAccount('bench')
  const [big = ''] = (await uploads({ ...node, key }, BIG, 1, 1)).slugs
  const [small = ''] = (await uploads({ ...node, key }, SMALL_FILE, 50, 8)).slugs
  return { ...node, tree: tree ?? 'this tree', key, big, small }
}

export const STORE_WORK: readonly StoreWork[] = [
  {
    name: 'upload',
    title: 'Upload of 100 KiB, one after another',
    run: (node) => cost(node, 300, () => uploads(node, SMALL_FILE, 300, 1)),
  },
  {
    name: 'uploads',
    title: 'Upload of 100 KiB, 16 at once',
    run: (node) => cost(node, 600, () => uploads(node, SMALL_FILE, 600, 16)),
  },
  {
    name: 'big-upload',
    title: 'Upload of 128 MiB',
    run: (node) => cost(node, 2, () => uploads(node, BIG, 2, 1)),
  },
  {
    name: 'download',
    title: 'Range of 100 KiB, one after another',
    run: (node) => cost(node, 300, ranges(node, 300, SMALL_FILE)),
  },
  {
    name: 'range',
    title: 'Range of 1 MiB, one after another (milliseconds are seconds a GiB)',
    run: (node) => cost(node, 300, ranges(node, 300, MIB)),
  },
  {
    name: 'big-download',
    title: 'Download of 128 MiB',
    run: (node) => cost(node, 4, async () => repeated(4, await addressOf(node, node.big))),
  },
  {
    name: 'redirected-range',
    title:
      'Range of 1 MiB from the store itself, each with a redirect by the node (milliseconds are seconds a GiB)',
    redirects: true,
    run: (node) => cost(node, 300, () => redirected(node, 300, MIB)),
  },
  {
    name: 'redirected-download',
    title: 'Download of 128 MiB from the store itself after a redirect by the node',
    redirects: true,
    run: (node) => cost(node, 4, () => redirected(node, 4, BIG)),
  },
]

function uploads(
  { key, ...server }: Pick<StoreNode, 'key' | 'url' | 'pids'>,
  size: number,
  count: number,
  connections: number,
): Promise<ClientResult> {
  const firstNumber = content
  content += count
  return runClient({ kind: 'upload', to: uploadTo(server, key), size, count, connections, firstNumber })
}

function addressOf(node: StoreNode, slug: string): Promise<string> {
  return measuredContentAddress(node, slug)
}

function ranges(node: StoreNode, count: number, length: number): () => Promise<unknown> {
  return async () => {
    const url = await addressOf(node, node.big)
    return runClient({ kind: 'download', url, ranges: { count, length, size: BIG }, hash: false })
  }
}

async function repeated(times: number, url: string): Promise<void> {
  for (let at = 0; at < times; at++) await runClient({ kind: 'download', url, ranges: null, hash: false })
}

/** Follows the node's redirect for each range; throws when the bytes came from the node, or not all of them. */
async function redirected(node: StoreNode, count: number, length: number): Promise<void> {
  const url = await addressOf(node, node.big)
  for (let at = 0; at < count; at++) {
    const start = (at * length) % BIG
    const answer = await fetch(url, { headers: { Range: `bytes=${start}-${start + length - 1}` } })
    const { byteLength } = await answer.arrayBuffer()
    if (!answer.redirected || answer.status !== 206 || byteLength !== length)
      throw new Error(`${answer.status} with ${byteLength} bytes from ${new URL(answer.url).origin}`)
  }
}

/** Runs so many operations, and divides what they took. */
async function cost(node: StoreNode, count: number, run: () => Promise<unknown>): Promise<StoreCost> {
  const before = await requestsOf(node)
  const start = performance.now()
  const { cpuSeconds } = await withUsage(node, run)
  const seconds = (performance.now() - start) / 1000
  const after = await requestsOf(node)
  const made = Object.entries(after).map(([method, sum]) => [method, sum - (before[method] ?? 0)] as const)
  return {
    milliseconds: (cpuSeconds * 1000) / count,
    rate: count / seconds,
    requests: Object.fromEntries(
      made.filter(([, number]) => number > 0).map(([method, number]) => [method, number / count]),
    ),
  }
}

/** Requests to the store so far, by method, as the node's metrics have them. */
async function requestsOf({ url }: StoreNode): Promise<Record<string, number>> {
  const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } })
  const sums: Record<string, number> = {}
  for (const [, method = '', value] of (await answer.text()).matchAll(
    /^holdfast_s3_requests_total\{[^}]*method="(\w+)"[^}]*\} (\d+)/gm,
  )) {
    sums[method] = (sums[method] ?? 0) + Number(value)
  }
  return sums
}
