import { openAdministration } from '../../src/administration.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import type { Db } from '../../src/database/schema.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import type { BlobKey } from '../../src/domain/ids.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { SCOPES } from '../../src/domain/scopes.ts'
import { createLog, type Log } from '../../src/log.ts'
import type { KeyGrant } from '../../src/services/key-issuing.ts'
import type { OneTimeLinks } from '../../src/services/one-time-links.ts'
import { takeOverStore } from '../../src/takeover.ts'
import { ends } from './eventually.ts'
import { clusterPair, folderPair } from './pair.ts'

/** The system's time plus what the test has added to it. */
export interface TestClock {
  now(): number
  monotonic(): number
  /** Lets time pass: both clocks. */
  advance(milliseconds: number): void
  /** Sets the wall clock alone, as somebody by mistake. */
  leap(milliseconds: number): void
}

export interface TestAccount {
  readonly id: number
  readonly username: string
  readonly apiKey: string
}

/**
 * A real server on a real port, with SQLite and a folder of its own; with HOLDFAST_TEST_PAIR=cluster three of them
 * behind a balancer, with a PostgreSQL database and a bucket of their own.
 */
export interface TestHoldfast {
  readonly url: string
  /** A node's own address: the same as `url` where there is no balancer. */
  readonly nodeUrl: string
  /** Where SQLite and the blobs are; of no use on the cluster. */
  readonly dataDir: string
  readonly clock: TestClock
  /** A connection of the test's own to the database. */
  readonly database: Db
  /** The keys of all that lies in the store, unfinished blobs included, sorted. */
  storedBlobs(): Promise<string[]>
  /** Leaves only the first bytes of a blob, behind the servers' back; with null it takes the blob away. */
  cutBlob(key: BlobKey, length: number | null): Promise<void>
  addAccount(username?: string): Promise<TestAccount>
  /** Good for everything, but for what `grant` says. */
  addKey(username: string, grant?: Partial<KeyGrant>): Promise<string>
  /** What the command line makes. */
  readonly links: OneTimeLinks
  disableAccount(username: string): Promise<void>
  /** Makes the account an administrator, and makes it if there is none of that name. */
  makeAdmin(username: string): Promise<void>
  revokeKey(apiKey: string): Promise<void>
  /** Writes the counters and runs every background job once. */
  runJobs(): Promise<void>
  /**
   * Returns when all that was counted so far shows at every node, which it need not for a second. One node always
   * shows what it has counted, so there this does nothing.
   */
  settle(): Promise<void>
  /** As `holdfast takeover`. */
  takeOver(): Promise<boolean>
  /** Stops the servers and starts others on the same data, after what happens `meanwhile`. The address changes. */
  restart(meanwhile?: () => Promise<void> | void): Promise<void>
  stop(): Promise<void>
}

/** The same servers, spoken to without the balancer, which answers by itself what it takes for no HTTP. */
export function atNode(holdfast: TestHoldfast): TestHoldfast {
  return { ...holdfast, url: holdfast.nodeUrl }
}

/** Whether servers are three nodes that share PostgreSQL and S3, for the few tests that look behind the interface. */
export const onCluster = process.env.HOLDFAST_TEST_PAIR === 'cluster'

export async function startHoldfast(
  settings: Partial<Config> = {},
  log: Log = createLog('silent', { terminal: false }),
): Promise<TestHoldfast> {
  await using started = new AsyncDisposableStack()
  const pair = started.adopt(onCluster ? await clusterPair() : await folderPair(settings.dataDir), (it) =>
    ends('what lay under the nodes', it.remove()),
  )
  const config: Config = { ...loadConfig({}), port: 0, minFreeSpace: 0, ...settings, ...pair.config }
  const clock = testClock()
  const parts = { config, clock, random: systemRandom, log }
  let nodes = await pair.start(parts)
  started.defer(() => nodes.stop())
  const administration = started.adopt(await openAdministration(parts), (it) =>
    ends('administration', it.close()),
  )
  const running = started.move()
  const owners = new Map<string, string>()
  let accounts = 0

  return {
    get url() {
      return nodes.url
    },
    get nodeUrl() {
      return nodes.nodeUrl
    },
    dataDir: config.dataDir,
    clock,
    get database() {
      return pair.database
    },
    storedBlobs: async () => (await pair.blobs()).sort(),
    cutBlob: pair.cutBlob,

    async addAccount(username = `user${++accounts}`) {
      const account = await administration.accounts.add(username)
      owners.set(account.apiKey, account.username)
      return account
    },

    async addKey(username, grant = {}) {
      const everything = { scopes: SCOPES, folder: null, expiresAt: null }
      const { apiKey } = await administration.keys.add(username, {
        name: 'another key',
        ...everything,
        ...grant,
      })
      owners.set(apiKey, username)
      return apiKey
    },

    links: administration.oneTimeLinks,

    async disableAccount(username) {
      const { accountAdministration } = administration
      const id = await accountAdministration.named(username)
      await accountAdministration.change(COMMAND_LINE, id, { disabled: true })
    },

    async makeAdmin(username) {
      await administration.administratorMaking.make(username)
    },

    async revokeKey(apiKey) {
      const owner = owners.get(apiKey)
      if (owner === undefined) throw new Error('that key was not made here')
      await administration.keys.revoke(owner, apiKey)
    },

    runJobs: () => nodes.runJobs(),
    settle: () => nodes.settle(),
    takeOver: () => takeOverStore(parts),

    async restart(meanwhile = () => {}) {
      await nodes.stop()
      await meanwhile()
      nodes = await pair.start(parts)
    },

    stop: () => running.disposeAsync(),
  }
}

function testClock(): TestClock {
  let wall = 0
  let monotonic = 0
  return {
    now: () => Date.now() + wall,
    monotonic: () => performance.now() + monotonic,
    advance(milliseconds) {
      wall += milliseconds
      monotonic += milliseconds
    },
    leap(milliseconds) {
      wall += milliseconds
    },
  }
}
