import { openDiskBlobs } from './blobs/disk.ts'
import type { Config } from './config.ts'
import { lockDataFolder, openDataFolder } from './data-folder.ts'
import { ensureGuests } from './database/accounts.ts'
import { metaValue } from './database/meta.ts'
import { migrate } from './database/migrate.ts'
import type { Db } from './database/schema.ts'
import { openSqlite } from './database/sqlite.ts'
import type { Clock } from './domain/clock.ts'
import type { Random } from './domain/random.ts'
import { startServer } from './http/server.ts'
import { allJobs, startJobs } from './jobs/jobs.ts'
import type { Log } from './log.ts'
import { createAccess } from './services/access.ts'
import { type Accounts, createAccounts } from './services/accounts.ts'
import { createCleaning } from './services/cleaning.ts'
import { createClockGuard } from './services/clock-guard.ts'
import { createContent } from './services/content.ts'
import { startContentHashing } from './services/content-hash.ts'
import { createContentTokens } from './services/content-tokens.ts'
import { createExpiry } from './services/expiry.ts'
import { createFiles } from './services/files.ts'
import { createFolderMoves } from './services/folder-moves.ts'
import { createFolderPasswords } from './services/folder-passwords.ts'
import { createFolders } from './services/folders.ts'
import { createKeys, type Keys } from './services/keys.ts'
import { createPublicFolders } from './services/public-folders.ts'
import { createRateLimits } from './services/rate-limits.ts'
import { createReadiness } from './services/readiness.ts'
import { createRemovals } from './services/removals.ts'
import { createRooms } from './services/room.ts'
import type { Services } from './services/services.ts'
import { createSigning } from './services/signing.ts'
import { createStoreHealth } from './services/store-health.ts'
import { createUploads } from './services/uploads.ts'
import { createUsage } from './services/usage.ts'

/** A running server. */
export interface Holdfast {
  /** Where it listens. */
  readonly url: string
  /** Runs every background job once, now. */
  runJobs(): Promise<void>
  /** Takes no new work, lets running uploads finish for up to 30 s, writes the counters, closes everything. */
  stop(): Promise<void>
}

export interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
}

/** Builds the service from its parts and starts it. Throws DataFolderInUse when another server has the folder. */
export async function startHoldfast(parts: Parts & { readonly log: Log }): Promise<Holdfast> {
  const { config, clock, random, log } = parts
  const folder = await openDataFolder(config.dataDir)
  const unlock = lockDataFolder(config.dataDir)
  const undo: (() => Promise<void> | void)[] = [unlock]
  try {
    const db = await openDatabase(folder.database, parts)
    undo.unshift(() => db.destroy())
    const blobs = await openDiskBlobs(folder.blobs, random)
    const secret = await metaValue(db, 'link_secret', () => Buffer.from(random(32)).toString('hex'))

    const health = createStoreHealth(blobs, (error) => log.error({ err: error }, 'the blob store failed'))
    const rates = await createRateLimits(db, clock)
    const usage = createUsage(db, clock)
    const signing = createSigning(secret)
    const access = createAccess(db, signing)
    const cleaning = createCleaning(db, blobs, clock, (error) =>
      log.error({ err: error }, 'a blob could not be removed'),
    )
    const rooms = createRooms(db, blobs, rates, clock, config, (error) =>
      log.error({ err: error }, 'room could not be given back yet'),
    )
    await cleaning.afterStart()
    const hashing = startContentHashing()
    undo.unshift(() => hashing.close())

    const services: Services = {
      access,
      accounts: createAccounts(db, clock, random),
      content: createContent(db, blobs),
      contentTokens: createContentTokens(signing, clock),
      files: createFiles(db, usage),
      folderMoves: createFolderMoves(db, config.maxFolderDepth),
      folderPasswords: createFolderPasswords(access, rates, signing, clock, random),
      folders: createFolders(db, clock, random, config.maxFolderDepth),
      keys: createKeys(db, clock, random),
      publicFolders: createPublicFolders(db),
      rates,
      readiness: createReadiness(db, health, clock),
      removals: createRemovals(db, clock),
      uploads: createUploads({
        db,
        blobs,
        health,
        hashing,
        rooms,
        clock,
        random,
        maxFileSize: config.maxFileSize,
      }),
      usage,
    }
    const expiry = createExpiry(db, cleaning, usage, clock, createClockGuard(clock), config.inactiveDays)
    const jobs = startJobs(allJobs({ usage, rates, health, expiry, cleaning, rooms }), (job, error) =>
      log.error({ job, err: error }, 'a background job failed'),
    )
    undo.unshift(() => jobs.stop())
    const server = startServer({ config, services, clock, random, log })

    return {
      url: server.url,
      runJobs: () => jobs.runAll(),
      async stop() {
        await server.stop()
        await jobs.stop()
        await usage.flush()
        await rates.flush()
        hashing.close()
        await db.destroy()
        unlock()
      },
    }
  } catch (error) {
    for (const step of undo) await step()
    throw error
  }
}

/** What the command line does, beside a running server or without one. */
export interface Administration {
  readonly accounts: Accounts
  readonly keys: Keys
  close(): Promise<void>
}

export async function openAdministration(parts: Parts): Promise<Administration> {
  const folder = await openDataFolder(parts.config.dataDir)
  const db = await openDatabase(folder.database, parts)
  const { clock, random } = parts
  return {
    accounts: createAccounts(db, clock, random),
    keys: createKeys(db, clock, random),
    close: () => db.destroy(),
  }
}

async function openDatabase(path: string, { clock, random }: Parts): Promise<Db> {
  const db = openSqlite(path)
  try {
    await migrate(db)
    await ensureGuests(db, random, clock.now())
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}
