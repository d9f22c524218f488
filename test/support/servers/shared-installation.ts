/** A database and a bucket shared by nodes in child processes, to which a test has direct access. */
import { describe, test } from 'bun:test'
import { startHoldfast } from '../../../src/app.ts'
import type { BlobStore } from '../../../src/blobs/blob-store.ts'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import { loadConfig, settingsInForce } from '../../../src/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { COMMAND_LINE } from '../../../src/domain/audit.ts'
import { MINUTE, systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { openAdministration } from '../../../src/operations/administration.ts'
import { createMigratedDatabase } from '../databases/migrated-database.ts'
import { whyNoPostgres } from '../databases/postgres.ts'
import {
  type ChildAccount,
  type ChildServer,
  type ChildSettings,
  startChild,
  temporaryFolder,
} from '../processes/child.ts'
import { reportNotRun } from '../processes/not-run.ts'
import { newBucket, type S3Endpoint, whyNoCeph } from '../storage/ceph.ts'

export interface SharedInstallation extends AsyncDisposable {
  /** Settings that make a process a node of it. */
  readonly settings: ChildSettings
  /** A folder that the nodes do not use. */
  readonly dataDir: string
  /** A connection of the test's own, past any proxy. Must be used only after the first start. */
  readonly database: Database
  /** A store of the test's own, past any proxy. Creates the bucket if no node has done so yet. */
  store(): Promise<BlobStore>
  /** Starts a node and waits until it listens. It is killed at the end. */
  startNode(more?: ChildSettings): Promise<ChildServer>
  addAccount(username: string): Promise<ChildAccount>
  disableAccount(username: string): Promise<void>
  revokeKey(username: string, apiKey: string): Promise<void>
  /**
   * Briefly starts a node whose clock is minutes ahead, so that every background job finds everything due.
   */
  runJobs(): Promise<void>
}

/** For nodes that keep the bytes in the data folder. */
export const WITHOUT_BUCKET: ChildSettings = {
  S3_ENDPOINT: '',
  S3_BUCKET: '',
  S3_REGION: '',
  S3_ACCESS_KEY_ID: '',
  S3_SECRET_ACCESS_KEY: '',
  S3_PATH_STYLE: '',
}

const PLENTY = { RATE_LIMIT: '1000000', GUEST_RATE_LIMIT: '1000000', LOG_LEVEL: 'info' }

/** A suite on PostgreSQL and S3. Warns when they are not available; with CI=true that is a failure. */
export function onSharedServers(suite: string, tests: () => void): void {
  const obstacle = whyNoPostgres() ?? whyNoCeph()
  if (obstacle !== null) {
    reportNotRun(suite, obstacle)
    test.if(process.env.CI === 'true')(`${suite}: PostgreSQL and S3 can be had`, () => {
      throw new Error(obstacle)
    })
  }
  describe.skipIf(obstacle !== null)(suite, tests)
}

/**
 * A new, empty installation on the servers that all tests share; `databaseUrl` names an unused database, and
 * `endpoint` another store.
 */
export async function sharedInstallation({
  databaseUrl,
  endpoint,
}: {
  readonly databaseUrl?: string
  readonly endpoint?: S3Endpoint | undefined
} = {}): Promise<SharedInstallation> {
  await using making = new AsyncDisposableStack()
  const folder = making.use(temporaryFolder())
  let url = databaseUrl
  if (url === undefined) url = making.adopt(await createMigratedDatabase(), (it) => it.drop()).url
  const s3 = await newBucket(endpoint)
  const settings = {
    ...PLENTY,
    DATABASE_URL: url,
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    S3_PATH_STYLE: 'true',
  }
  let store: Promise<BlobStore> | null = null
  // A test may break this connection too.
  const database = openPostgres(url, { connections: 2, durable: true, report: () => {} })
  making.defer(() => database.destroy())
  const variables = Object.entries(settings).map(([name, value]) => [`HOLDFAST_${name}`, value])
  const config = { ...loadConfig(Object.fromEntries(variables)), dataDir: folder.path, port: 0 }
  const parts = { config, clock: systemClock, random: systemRandom }
  const administer = async <T>(
    work: (it: Awaited<ReturnType<typeof openAdministration>>) => Promise<T>,
  ): Promise<T> => {
    const administration = await openAdministration(parts, { mayBegin: true })
    try {
      return await work(administration)
    } finally {
      await administration.close()
    }
  }
  const made = making.move()
  return {
    settings,
    dataDir: folder.path,
    database,
    store() {
      store ??= openS3Blobs(s3, systemRandom)
      return store
    },
    startNode: async (more) => made.use(await startChild(folder.path, { ...settings, ...more })),
    addAccount: (username) => administer(({ accounts }) => accounts.add(username)),
    disableAccount: (username) =>
      administer(async ({ accountAdministration }) => {
        const id = await accountAdministration.named(username)
        await accountAdministration.change(COMMAND_LINE, id, { disabled: true })
      }),
    revokeKey: (username, apiKey) => administer(({ keys }) => keys.revoke(username, apiKey)),

    async runJobs() {
      let ahead = 10 * MINUTE
      const clock = { ...systemClock, now: () => systemClock.now() + ahead }
      const log = createLog('silent', { terminal: false })
      const node = await startHoldfast({ ...parts, settings: settingsInForce({}), clock, log })
      try {
        await node.runJobs()
        // New garbage is kept for a while.
        ahead += 10 * MINUTE
        await node.runJobs()
      } finally {
        await node.stop()
      }
    },

    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}
