/** Servers that can be killed and restarted at the same address, on both storage pairs. */
import { join } from 'node:path'
import {
  addAccount,
  type ChildAccount,
  type ChildServer,
  startChild,
  temporaryFolder,
} from '../processes/child.ts'
import { freePort } from '../processes/free-port.ts'
import { inconsistencies } from '../storage/blob-folder.ts'
import type { S3Endpoint } from '../storage/ceph.ts'
import { unsoundness } from '../storage/soundness.ts'
import { sharedInstallation } from './shared-installation.ts'

export interface KillableServers extends AsyncDisposable {
  readonly urls: readonly string[]
  addAccount(username: string): Promise<ChildAccount>
  /**
   * Kills a server; resolves when it listens again. `busy`: address of a server that is processing uploads.
   */
  kill(busy: string): Promise<void>
  /** Ends everything under way. Returns the inconsistencies that remain, one line each. */
  end(): Promise<string[]>
}

const SETTINGS = {
  MIN_FREE_SPACE: '1MB',
  RATE_LIMIT: '1000000',
  MAX_FILE_SIZE: '20GB',
  STORAGE_LIMIT: '20GB',
}

/** One server on SQLite and a folder. */
export async function killableServer(): Promise<KillableServers> {
  await using stack = new AsyncDisposableStack()
  const dataDir = join(stack.use(temporaryFolder()).path, 'data')
  const port = await freePort()
  const start = () => startChild(dataDir, { ...SETTINGS, PORT: String(port) })
  let server = await start()
  stack.defer(() => server.kill())
  const made = stack.move()
  return {
    urls: [server.url],
    addAccount: (username) => addAccount(dataDir, username),
    async kill() {
      await server.kill()
      server = await start()
    },
    async end() {
      await server.stop()
      return inconsistencies(dataDir, { cleaned: true })
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}

/**
 * Three nodes on PostgreSQL and S3. The first `busyKills` kills hit the busy node, whose upload can only
 * continue when the others have declared it dead; later ones hit another node.
 */
export async function killableNodes(busyKills: number, endpoint?: S3Endpoint): Promise<KillableServers> {
  await using stack = new AsyncDisposableStack()
  const installation = stack.use(await sharedInstallation({ endpoint }))
  const nodes = new Map<string, ChildServer>()
  const start = async (port: number) => {
    const node = await installation.startNode({ ...SETTINGS, PORT: String(port) })
    nodes.set(node.url, node)
  }
  for (let node = 0; node < 3; node++) await start(await freePort())
  const urls = [...nodes.keys()]
  const made = stack.move()
  let kills = 0
  return {
    urls,
    addAccount: (username) => installation.addAccount(username),
    async kill(busy) {
      kills += 1
      const isBusy = (url: string) => url === busy
      // Nodes take turns when none is known to be busy.
      const url =
        urls.find(kills <= busyKills ? isBusy : (each) => !isBusy(each)) ?? urls[kills % urls.length]
      if (url === undefined) throw new Error('there are no nodes')
      await nodes.get(url)?.kill()
      await start(Number(new URL(url).port))
    },
    async end() {
      await Promise.all([...nodes.values()].map((node) => node.stop()))
      await installation.runJobs()
      return unsoundness(installation)
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}
