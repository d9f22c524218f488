/** The services as the program puts them together, from a start on what is there to a kill. */
import { createAccounts, removeAccount } from '../../src/accounts/accounts.ts'
import { createKeyHolders } from '../../src/accounts/authentication.ts'
import { jobsOf } from '../../src/app.ts'
import type { BlobStore } from '../../src/blobs/blob-store.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { ensureGuests } from '../../src/core/accounts.rows.ts'
import type { AccountCaller } from '../../src/core/callers.ts'
import { createCore, createShutdownHooks, pairUp } from '../../src/core/core.ts'
import type { Job } from '../../src/core/jobs/jobs.ts'
import { noSecondCopies } from '../../src/core/store/store-health.ts'
import type { Database } from '../../src/database/database.ts'
import { lockAccount } from '../../src/database/differences.ts'
import { migrate } from '../../src/database/migrate.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import { type Clock, MINUTE } from '../../src/domain/clock.ts'
import type { AccountId, Uuid } from '../../src/domain/ids.ts'
import type { Random } from '../../src/domain/random.ts'
import { type Content, createContent } from '../../src/downloads/content.ts'
import { createFilesModule, type FilesModule } from '../../src/files/files.module.ts'
import { type FileDetailRow, findFile } from '../../src/files/files.ts'
import type { Log } from '../../src/log.ts'
import { createOutbox } from '../../src/mail/outbox.ts'
import { createSharingModule, type SharingModule } from '../../src/sharing/sharing.module.ts'
import { noThumbnails } from '../../src/thumbnails/thumbnails.ts'
import type { ContentHashing } from '../../src/uploads/hashing/content-hash.ts'
import { RunningDigest } from '../../src/uploads/hashing/content-hash-messages.ts'
import { createUploadsModule, type UploadsModule } from '../../src/uploads/uploads.module.ts'

/** Small, so that a few files reach every limit. */
export const LIMITS = {
  storageLimit: 9000,
  guestStorage: 7000,
  guestHourlySize: 12_000,
  maxFileSize: 4000,
  guestRateLimit: 12,
  minFreeSpace: 0,
  /** Hours. */
  uploadExpires: 2,
  inactiveDays: 2,
  binDays: 2,
} as const

export const CONFIG: Config = { ...loadConfig({}), ...LIMITS }

export interface Services {
  readonly content: Content
  /** The file as everybody may see it; undefined where there is none. */
  readable(uuid: Uuid): Promise<FileDetailRow | undefined>
  readonly files: FilesModule
  readonly sharing: SharingModule
  readonly uploads: UploadsModule
  readonly jobs: readonly Job[]
  /** Deletes the account with all that it has. */
  removeAccount(account: AccountId): Promise<void>
  /** What the server waits for before it sends an answer: that may tell of what somebody else has just committed. */
  beforeAnswer(): Promise<void>
}

/** Starts the services as a server does before it listens. */
export async function startServices(parts: {
  readonly db: Database
  readonly store: BlobStore
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}): Promise<Services> {
  const { db, store, clock, random, log } = parts
  const opened = {
    config: CONFIG,
    clock,
    random,
    log,
    db,
    nonDurableDb: db.nonDurable,
    isShared: false,
    pools: () => ({}),
  }
  const paired = await pairUp(store, opened)
  const core = await createCore({
    ...opened,
    ...paired,
    shutdown: createShutdownHooks(log),
    freeSpace: async () => null,
    secret: 'secret',
    publicUrl: () => 'http://localhost',
  })
  const files = await createFilesModule(core)
  const outbox = createOutbox(core.clock, core.random, null)
  const sharing = createSharingModule(core, { outbox, unsubscribePath: () => '/' }, files)
  const uploads = createUploadsModule(core, { files, thumbnails: noThumbnails, hashing: hashingHere })
  const content = createContent({
    ...{ ...core, copies: noSecondCopies, verification: null, suspects: { add() {} }, redirects: false },
  })
  const readable = (uuid: Uuid) => findFile(core.db, { kind: 'uuid', uuid })
  const removal: Job = {
    ...{ name: 'forget removed accounts', on: 'one node', every: MINUTE },
    run: (mayGoOn) => createAccounts(core.db, clock, random).dropRemoved(mayGoOn),
  }
  const jobs = jobsOf([core, files, sharing, uploads, { jobs: [removal] }])
  const remove = (account: AccountId) =>
    inTransaction(core.db, async (trx) => {
      await lockAccount(trx, account)
      await removeAccount(trx, account, clock.now())
    })
  const beforeAnswer = async () => {
    await db.durable()
  }
  return { content, readable, files, sharing, uploads, jobs, removeAccount: remove, beforeAnswer }
}

/** On this thread, since the answers of another come in an order that is chance. */
const hashingHere: ContentHashing = {
  start() {
    const digest = new RunningDigest()
    return {
      async update(bytes) {
        digest.update(bytes)
      },
      async digest(last) {
        digest.update(last)
        return digest.digest()
      },
      drop() {},
    }
  },
  lend: () => null,
  close() {},
}

/** Makes the tables and three accounts, and returns those as callers. */
export async function prepareDatabase(db: Database, clock: Clock, random: Random): Promise<AccountCaller[]> {
  await migrate(db)
  await ensureGuests(db, random, clock.now())
  const callers: AccountCaller[] = []
  for (const username of ['ann', 'ben', 'cat']) {
    const { apiKey } = await createAccounts(db, clock, random).add(username)
    callers.push(await createKeyHolders(db, clock).authenticate(apiKey))
  }
  return callers
}
