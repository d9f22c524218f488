import type { KeyGrant } from '../../../src/accounts/keys.ts'
import type { OneTimeLinks } from '../../../src/accounts/one-time-links.ts'
import { type Config, loadConfig } from '../../../src/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { SCOPES } from '../../../src/domain/access.ts'
import { COMMAND_LINE } from '../../../src/domain/audit.ts'
import { type Clock, systemTimers } from '../../../src/domain/clock.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog, type Log } from '../../../src/log.ts'
import { openAdministration } from '../../../src/operations/administration.ts'
import { type TakenOver, takeOverStore } from '../../../src/operations/takeover.ts'
import type { ListenWay } from '../../../src/server/connections/listener.ts'
import { ends } from '../eventually.ts'
import { clusterPair, folderPair } from './pair.ts'

/** System time plus the offset that the test has set. */
export interface TestClock extends Clock {
  /** Advances both clocks. */
  advance(milliseconds: number): void
  /** Sets the wall clock only, like a mistaken administrator. */
  leap(milliseconds: number): void
}

export interface TestAccount {
  readonly id: number
  readonly username: string
  readonly apiKey: string
}

/**
 * A real server on a real port, with SQLite and a folder of its own; with HOLDFAST_TEST_PAIR=cluster three
 * nodes behind a balancer, with a PostgreSQL database and a bucket of their own.
 */
export interface TestHoldfast {
  readonly url: string
  /** A node's own address; equal to `url` without a balancer. */
  readonly nodeUrl: string
  /** Location of SQLite and the blobs; not used on the cluster. */
  readonly dataDir: string
  /** What the nodes were started with. */
  readonly config: Config
  readonly clock: TestClock
  /** A database connection of the test's own. */
  readonly database: Database
  /** Keys of all blobs in the store, including unfinished ones, sorted. */
  storedBlobs(): Promise<string[]>
  /** Truncates a blob behind the servers' back; null removes it. */
  cutBlob(key: BlobKey, length: number | null): Promise<void>
  addAccount(username?: string): Promise<TestAccount>
  /** With all permissions, unless `grant` restricts them. */
  addKey(username: string, grant?: Partial<KeyGrant>): Promise<string>
  /** The command line's one-time links. */
  readonly links: OneTimeLinks
  disableAccount(username: string): Promise<void>
  /** Makes the account an administrator; creates it if it does not exist. */
  makeAdmin(username: string): Promise<void>
  revokeKey(apiKey: string): Promise<void>
  /** Writes the counters and runs every background job once. */
  runJobs(): Promise<void>
  /**
   * Resolves when everything counted so far is visible at every node, which may take a second. Does nothing
   * on one node, which always shows its own counts.
   */
  settle(): Promise<void>
  /** Like `holdfast takeover`. */
  takeOver(): Promise<TakenOver>
  /** Restarts the servers on the same data, with `meanwhile` in between. The address changes. */
  restart(meanwhile?: () => Promise<void> | void): Promise<void>
  stop(): Promise<void>
}

/** These servers without the balancer, which answers malformed HTTP itself. */
export function atNode(holdfast: TestHoldfast): TestHoldfast {
  return { ...holdfast, url: holdfast.nodeUrl }
}

/** Whether servers are three nodes on PostgreSQL and S3, for the few tests that depend on it. */
export const onCluster = process.env.HOLDFAST_TEST_PAIR === 'cluster'

export async function startHoldfast(
  settings: Partial<Config> = {},
  log: Log = createLog('silent', { terminal: false }),
  way?: ListenWay,
): Promise<TestHoldfast> {
  await using started = new AsyncDisposableStack()
  const pair = started.adopt(onCluster ? await clusterPair() : await folderPair(settings.dataDir), (it) =>
    ends('what lay under the nodes', it.remove()),
  )
  const config: Config = { ...loadConfig({}), port: 0, minFreeSpace: 0, ...settings, ...pair.config }
  const clock = testClock()
  const parts = {
    ...{ config, clock, random: systemRandom, log, ...(way === undefined ? {} : { way }) },
    // What else this machine does decides nothing here.
    diskPressure: async () => 0,
  }
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
    config,
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
      await administration.administratorCreation.make(username)
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
    timers: systemTimers,
    advance(milliseconds) {
      wall += milliseconds
      monotonic += milliseconds
    },
    leap(milliseconds) {
      wall += milliseconds
    },
  }
}
