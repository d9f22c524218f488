/** A database and a bucket that nodes share: nodes of it are child processes, and a test looks past them. */
import { describe, test } from 'bun:test'
import { openAdministration } from '../../src/administration.ts'
import { startHoldfast } from '../../src/app.ts'
import type { BlobStore } from '../../src/blobs/blob-store.ts'
import { openS3Blobs } from '../../src/blobs/s3.ts'
import { loadConfig, settingsInForce } from '../../src/config.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import type { Db } from '../../src/database/schema.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { MINUTE, systemClock } from '../../src/domain/clock.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { createLog } from '../../src/log.ts'
import { newBucket, type S3Endpoint, whyNoCeph } from './ceph.ts'
import {
  type ChildAccount,
  type ChildServer,
  type ChildSettings,
  startChild,
  temporaryFolder,
} from './child.ts'
import { createMigratedDatabase } from './migrated-database.ts'
import { whyNoPostgres } from './postgres.ts'

export interface SharedInstallation extends AsyncDisposable {
  /** What makes a process a node of it. */
  readonly settings: ChildSettings
  /** A folder that is of no use to the nodes. */
  readonly dataDir: string
  /** A connection of the test's own, whatever stands between the nodes and the database. To be asked for after the first start. */
  readonly database: Db
  /** The same for the store. Makes the bucket when no node has done so yet. */
  store(): Promise<BlobStore>
  /** Starts a node and waits until it listens. It is killed in the end. */
  startNode(more?: ChildSettings): Promise<ChildServer>
  addAccount(username: string): Promise<ChildAccount>
  disableAccount(username: string): Promise<void>
  revokeKey(username: string, apiKey: string): Promise<void>
  /** Lets a node come for a moment whose clock is minutes ahead, so that every background job finds all of it due. */
  runJobs(): Promise<void>
}

/** For nodes of it that keep the bytes in the data folder. */
export const WITHOUT_BUCKET: ChildSettings = {
  S3_ENDPOINT: '',
  S3_BUCKET: '',
  S3_REGION: '',
  S3_ACCESS_KEY_ID: '',
  S3_SECRET_ACCESS_KEY: '',
  S3_PATH_STYLE: '',
}

const PLENTY = { RATE_LIMIT: '1000000', GUEST_RATE_LIMIT: '1000000', LOG_LEVEL: 'info' }

/** A suite on PostgreSQL and S3. Where they cannot be had it says so; with CI=true that is a failure. */
export function onSharedServers(suite: string, tests: () => void): void {
  const obstacle = whyNoPostgres() ?? whyNoCeph()
  if (obstacle !== null) {
    console.warn(`${suite}: not run, because ${obstacle}`)
    test.if(process.env.CI === 'true')(`${suite}: PostgreSQL and S3 can be had`, () => {
      throw new Error(obstacle)
    })
  }
  describe.skipIf(obstacle !== null)(suite, tests)
}

/**
 * Without a row, on the servers that all tests share; `databaseUrl` names a database that nobody has used, even empty, and
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
  // A test may take the database away from this connection too.
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
      const clock = { now: () => systemClock.now() + ahead, monotonic: systemClock.monotonic }
      const log = createLog('silent', { terminal: false })
      const node = await startHoldfast({ ...parts, settings: settingsInForce({}), clock, log })
      try {
        await node.runJobs()
        // What has just become garbage stays for a while.
        ahead += 10 * MINUTE
        await node.runJobs()
      } finally {
        await node.stop()
      }
    },

    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}
