/** Servers that are killed and come again at the same address, on both pairs of database and store. */
import { join } from 'node:path'
import { inconsistencies } from './blob-folder.ts'
import type { S3Endpoint } from './ceph.ts'
import { addAccount, type ChildAccount, type ChildServer, startChild, temporaryFolder } from './child.ts'
import { freePort } from './free-port.ts'
import { sharedInstallation } from './shared-installation.ts'
import { unsoundness } from './soundness.ts'

export interface KillableServers extends AsyncDisposable {
  readonly urls: readonly string[]
  addAccount(username: string): Promise<ChildAccount>
  /** SIGKILL to one of them; resolves when it listens again. `busy`: the address of one that is at work. */
  kill(busy: string): Promise<void>
  /** Ends what is under way. What is wrong with what is left, a line each. */
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
 * Three nodes that share PostgreSQL and S3. The first so many kills hit the node that is at work, whose upload is free
 * only when the others have taken it for dead; later ones hit another.
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
      // Where nobody is known to be busy, they take turns.
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
