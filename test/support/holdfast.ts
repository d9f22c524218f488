import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAdministration, startHoldfast as start } from '../../src/app.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { createLog } from '../../src/log.ts'

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

/** A real server on a real port, with SQLite and a folder of its own. */
export interface TestHoldfast {
  readonly url: string
  readonly dataDir: string
  readonly clock: TestClock
  addAccount(username?: string): Promise<TestAccount>
  addKey(username: string): Promise<string>
  disableAccount(username: string): Promise<void>
  revokeKey(apiKey: string): Promise<void>
  /** Writes the counters and runs every background job once. */
  runJobs(): Promise<void>
  /** Stops the server and starts another on the same data. The address changes. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startHoldfast(settings: Partial<Config> = {}): Promise<TestHoldfast> {
  const dataDir = settings.dataDir ?? (await mkdtemp(join(tmpdir(), 'holdfast-test-')))
  const config: Config = { ...loadConfig({}), port: 0, minFreeSpace: 0, ...settings, dataDir }
  const clock = testClock()
  const log = createLog('silent', { terminal: false })
  const parts = { config, clock, random: systemRandom, log }
  let server = await start(parts)
  const administration = await openAdministration(parts)
  const owners = new Map<string, string>()
  let accounts = 0

  return {
    get url() {
      return server.url
    },
    dataDir,
    clock,

    async addAccount(username = `user${++accounts}`) {
      const account = await administration.accounts.add(username)
      owners.set(account.apiKey, account.username)
      return account
    },

    async addKey(username) {
      const { apiKey } = await administration.keys.add(username, 'another key')
      owners.set(apiKey, username)
      return apiKey
    },

    disableAccount: (username) => administration.accounts.disable(username),

    async revokeKey(apiKey) {
      const owner = owners.get(apiKey)
      if (owner === undefined) throw new Error('that key was not made here')
      await administration.keys.revoke(owner, apiKey)
    },

    runJobs: () => server.runJobs(),

    async restart() {
      await server.stop()
      server = await start(parts)
    },

    async stop() {
      await server.stop()
      await administration.close()
      await rm(dataDir, { recursive: true, force: true })
    },
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
