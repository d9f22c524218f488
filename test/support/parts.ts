/** The services on a real database and a real folder, without a server around them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { BlobStore } from '../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../src/blobs/disk.ts'
import { ensureGuests } from '../../src/database/accounts.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { Db } from '../../src/database/schema.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { createLog } from '../../src/log.ts'
import { createAccounts } from '../../src/services/accounts.ts'
import type { AccountCaller, Caller } from '../../src/services/caller.ts'
import { type Cleaning, createCleaning } from '../../src/services/cleaning.ts'
import { startContentHashing } from '../../src/services/content-hash.ts'
import { createKeys } from '../../src/services/keys.ts'
import { joinNodes } from '../../src/services/nodes.ts'
import { createRateLimits, type RateLimits } from '../../src/services/rate-limits.ts'
import { createRemovals, type Removals } from '../../src/services/removals.ts'
import { createRooms, type RoomLimits, type Rooms } from '../../src/services/room.ts'
import { createStoreHealth } from '../../src/services/store-health.ts'
import type { StoredFile } from '../../src/services/stored-file.ts'
import { noThumbnails } from '../../src/services/thumbnails.ts'
import { createUploads, type Uploads } from '../../src/services/uploads.ts'
import { createUsage, type Usage } from '../../src/services/usage.ts'

const GIB = 1024 ** 3

export interface TestParts {
  readonly folder: string
  /** As it is, whatever `between` makes of it. */
  readonly db: Db
  readonly blobs: BlobStore
  readonly rates: RateLimits
  readonly rooms: Rooms
  readonly uploads: Uploads
  readonly usage: Usage
  readonly cleaning: Cleaning
  readonly removals: Removals
  readonly caller: AccountCaller
  /** What was reported to the log. */
  readonly reported: unknown[]
  readonly clock: { now(): number; monotonic(): number; advance(milliseconds: number): void }
  /** A whole upload of the account's. */
  store(content: string, name: string, by?: Caller): Promise<StoredFile>
  [Symbol.asyncDispose](): Promise<void>
}

export interface PartsOptions {
  /** Where `holdfast.sqlite` lies; in a fresh folder beside the blobs when left out. */
  readonly databaseFolder?: string
  readonly limits?: Partial<RoomLimits>
  /** Stands between the services and the database. */
  readonly between?: (db: Db) => Db
}

/** Another writer is not waited for: a transaction fails at once when somebody else has the write lock. */
export async function buildParts(options: PartsOptions = {}): Promise<TestParts> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const db = openSqlite(join(options.databaseFolder ?? folder, 'holdfast.sqlite'))
  let offset = 0
  const clock = {
    now: () => Date.now() + offset,
    monotonic: () => performance.now() + offset,
    advance(milliseconds: number) {
      offset += milliseconds
    },
  }
  const reported: unknown[] = []
  const report = (error: unknown) => {
    reported.push(error)
  }
  await migrate(db)
  await ensureGuests(db, systemRandom, clock.now())
  await sql`pragma busy_timeout = 0`.execute(db)
  const { apiKey } = await createAccounts(db, clock, systemRandom).add('alice')
  const caller = await createKeys(db, clock, systemRandom).authenticate(apiKey)

  const seen = options.between?.(db) ?? db
  const blobs = await openDiskBlobs(join(folder, 'blobs'), systemRandom, { alone: true })
  const health = createStoreHealth(blobs, report)
  const rates = await createRateLimits(seen, clock)
  const limits: RoomLimits = {
    storageLimit: 10 * GIB,
    guestStorage: 10 * GIB,
    guestHourlySize: 10 * GIB,
    minFreeSpace: 0,
    ...options.limits,
  }
  const log = createLog('silent', { terminal: false })
  const nodes = await joinNodes({ db, clock, random: systemRandom, log, alone: true })
  const rooms = createRooms({
    db: seen,
    blobs,
    databaseSpace: async () => null,
    rates,
    nodes,
    clock,
    limits,
    report,
  })
  const hashing = startContentHashing()
  const uploads = createUploads({
    db: seen,
    blobs,
    health,
    hashing,
    rooms,
    thumbnails: noThumbnails,
    clock,
    random: systemRandom,
    maxFileSize: 10 * GIB,
  })
  return {
    folder,
    db,
    blobs,
    rates,
    rooms,
    uploads,
    usage: createUsage(seen, clock),
    cleaning: createCleaning(seen, blobs, clock, report),
    removals: createRemovals(seen, clock),
    caller,
    reported,
    clock,

    async store(content, name, by = caller) {
      const bytes = Buffer.from(content)
      const incoming = await uploads.begin(by, 'root', { least: bytes.length, most: bytes.length })
      await incoming.write(bytes)
      return incoming.finish(name, null)
    },

    async [Symbol.asyncDispose]() {
      hashing.close()
      await db.destroy()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
