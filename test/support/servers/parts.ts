/** Services on a real database and a real folder, without a server. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import { createKeyHolders } from '../../../src/accounts/authentication.ts'
import type { BlobStore } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { ensureGuests } from '../../../src/core/accounts.rows.ts'
import type { AccountCaller, Caller } from '../../../src/core/callers.ts'
import { createSigning } from '../../../src/core/hmac.ts'
import { joinNodes } from '../../../src/core/nodes/nodes.ts'
import { createRateLimits, type RateLimits } from '../../../src/core/rate-limits/rate-limits.ts'
import { createStoreHealth } from '../../../src/core/store/store-health.ts'
import type { Database } from '../../../src/database/database.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { type Clock, systemTimers } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { type Cleaning, createCleaning } from '../../../src/files/blob-cleaning.job.ts'
import { createRemovals, type Removals } from '../../../src/files/removals.ts'
import { Usage } from '../../../src/files/use-counters.ts'
import { createLog } from '../../../src/log.ts'
import { noThumbnails } from '../../../src/thumbnails/thumbnails.ts'
import { FileCommit, type StoredFile } from '../../../src/uploads/commit.ts'
import { startContentHashing } from '../../../src/uploads/hashing/content-hash.ts'
import { UploadStoring } from '../../../src/uploads/request-uploads.ts'
import { type ReservationLimits, Reservations } from '../../../src/uploads/reservations.ts'
import { writeMigratedSqlite } from '../databases/migrated-database.ts'
import { NOWHERE } from '../node-place.ts'

const GIB = 1024 ** 3

export interface TestParts {
  readonly folder: string
  /** The database itself, without `between`. */
  readonly db: Database
  readonly blobs: BlobStore
  readonly rates: RateLimits
  readonly reservations: Reservations
  readonly uploads: UploadStoring
  readonly usage: Usage
  readonly cleaning: Cleaning
  readonly removals: Removals
  readonly caller: AccountCaller
  /** Errors reported to the log. */
  readonly reported: unknown[]
  readonly clock: Clock & { advance(milliseconds: number): void }
  /** Uploads a file to the account. */
  store(content: string, name: string, by?: Caller): Promise<StoredFile>
  [Symbol.asyncDispose](): Promise<void>
}

export interface PartsOptions {
  /** Folder of `holdfast.sqlite`; by default a new one with the blobs. */
  readonly databaseFolder?: string
  readonly limits?: Partial<ReservationLimits>
  /** Wraps the database for the services. */
  readonly between?: (db: Database) => Database
}

/**
 * Does not wait for other writers: a transaction fails at once while another connection has the write lock.
 */
export async function buildParts(options: PartsOptions = {}): Promise<TestParts> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const path = join(options.databaseFolder ?? folder, 'holdfast.sqlite')
  if (!existsSync(path)) await writeMigratedSqlite(path)
  const db = openSqlite(path)
  let offset = 0
  const clock = {
    now: () => Date.now() + offset,
    monotonic: () => performance.now() + offset,
    timers: systemTimers,
    advance(milliseconds: number) {
      offset += milliseconds
    },
  }
  const reported: unknown[] = []
  const report = (error: unknown) => {
    reported.push(error)
  }
  await ensureGuests(db, systemRandom, clock.now())
  await sql`pragma busy_timeout = 0`.execute(db)
  const { apiKey } = await createAccounts(db, clock, systemRandom).add('alice')
  const caller = await createKeyHolders(db, clock).authenticate(apiKey)

  const seen = options.between?.(db) ?? db
  const blobs = await openDiskBlobs(join(folder, 'blobs'), systemRandom, { alone: true })
  const health = createStoreHealth(blobs, report)
  const rates = await createRateLimits(seen, clock)
  const limits: ReservationLimits = {
    storageLimit: 10 * GIB,
    guestStorage: 10 * GIB,
    guestHourlySize: 10 * GIB,
    minFreeSpace: 0,
    ...options.limits,
  }
  const log = createLog('silent', { terminal: false })
  const nodes = await joinNodes({ db, clock, random: systemRandom, log, alone: true, place: NOWHERE })
  const reservations = new Reservations({
    db: seen,
    blobs,
    databaseSpace: async () => null,
    rates,
    nodes,
    clock,
    random: systemRandom,
    limits,
    report,
  })
  const hashing = startContentHashing()
  const random = systemRandom
  const commit = new FileCommit({
    ...{ db: seen, health, thumbnails: noThumbnails, clock, random, limits },
    uploaded() {},
  })
  const uploads = new UploadStoring({
    clock,
    db: seen,
    blobs,
    health,
    hashing,
    reservations,
    commit,
    signing: createSigning('a secret of this test'),
    maxFileSize: 10 * GIB,
  })
  return {
    folder,
    db,
    blobs,
    rates,
    reservations,
    uploads,
    usage: new Usage(seen, clock),
    cleaning: createCleaning(seen, blobs, clock, report),
    removals: createRemovals(seen, clock),
    caller,
    reported,
    clock,

    async store(content, name, by = caller) {
      const bytes = Buffer.from(content)
      const upload = await uploads.begin(by, 'root', { least: bytes.length, declared: bytes.length })
      await upload.write(bytes)
      return upload.finish(name, null)
    },

    async [Symbol.asyncDispose]() {
      hashing.close()
      await db.destroy()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
