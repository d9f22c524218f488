import { readFileSync, statSync } from 'node:fs'
import type { BlobStore } from './blobs/blob-store.ts'
import { openDiskBlobs } from './blobs/disk.ts'
import { openS3Blobs } from './blobs/s3.ts'
import type { S3Watch } from './blobs/s3-client.ts'
import type { Config, StorePlace } from './config.ts'
import { ensureGuests } from './core/accounts.rows.ts'
import {
  closeToOthers,
  dataFolder,
  diskSize,
  freeSpace,
  lockDataFolder,
  openDataFolder,
} from './data-folder.ts'
import type { Database } from './database/database.ts'
import { migrate, migrations, missingMigrations } from './database/migrate.ts'
import { assertRecentPostgres, type PoolUse } from './database/postgres.ts'
import { type LogLost, openSqlite } from './database/sqlite.ts'
import type { Clock } from './domain/clock.ts'
import { Refusal } from './domain/errors.ts'
import type { Random } from './domain/random.ts'
import type { Log } from './log.ts'
import { createReserve, type Reserve } from './reserve.ts'

export { isSyncedAsWhole, syncFileSystem } from './blobs/disk-files.ts'
export { noticesOtherBytes, tryJoin } from './blobs/s3.ts'
export { StoreUnusable } from './blobs/s3-objects.ts'
export type { Reserve } from './reserve.ts'

/** A database at this program's version. */
export interface OpenDatabase {
  readonly db: Database
  /** For what may lose a moment and must not hold up a request: rate windows, counters. */
  readonly nonDurableDb: Database
  /** Whether other nodes may have it open at the same time. */
  readonly isShared: boolean
  /** Of each pool of connections, by name; of none where there are no connections. */
  pools(): Readonly<Record<string, PoolUse>>
  /** Bytes that the disk under it has left; null where that is another machine's. */
  freeSpace(): Promise<number | null>
  close(): Promise<void>
}

/** What everything is built from. */
export interface StorageOptions {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
}

export interface StorageParts extends StorageOptions {
  readonly report: (error: unknown) => void
  /**
   * Called when SQLite's commits cannot be made durable. Only the server that holds the data folder gives it; see
   * `openSqlite`.
   */
  readonly lost?: LogLost
  /** Told of requests to an S3 store. */
  readonly watchStore?: S3Watch
}

/** Connections for counters and rate windows: each is used for a moment only. */
const NON_DURABLE_SHARE = 0.25

/**
 * Opens the database that the settings name, and brings it to this program's version; `tell` hears of each step of that.
 * Throws DatabaseTooNew or PostgresTooOld.
 */
export async function openDatabase(
  parts: StorageParts,
  tell: (migrations: number, state: 'begins' | 'done') => void = () => {},
): Promise<OpenDatabase> {
  const database = await connect(parts)
  try {
    const missing = await missingMigrations(database.db)
    // A new database is not brought from anywhere.
    const isOld = missing > 0 && missing < migrations.length
    if (isOld) tell(missing, 'begins')
    if (missing > 0) await migrated(database.db, parts)
    if (isOld) tell(missing, 'done')
    await ensureGuests(database.db, parts.random, parts.clock.now())
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** A migration may take longer than any request should, and other nodes wait for it. */
async function migrated(db: Database, { config, report }: StorageParts): Promise<void> {
  if (config.databaseUrl === null) return migrate(db)
  const { openPostgres } = await import('./database/postgres.ts')
  const patient = openPostgres(config.databaseUrl, { connections: 1, durable: true, isPatient: true, report })
  try {
    await migrate(patient)
  } finally {
    await patient.destroy()
  }
}

/** Opens the database without migrating it. Throws PostgresTooOld. */
export function connect({ config, report, lost }: StorageParts): Promise<OpenDatabase> {
  const { databaseUrl } = config
  return databaseUrl === null ? openOwnSqlite(config, lost) : openPools(databaseUrl, { config, report })
}

async function openOwnSqlite({ dataDir, groupRead }: Config, lost?: LogLost): Promise<OpenDatabase> {
  const folder = await openDataFolder(dataDir, groupRead)
  const db = openSqlite(folder.database, lost)
  return {
    db,
    nonDurableDb: db.nonDurable,
    isShared: false,
    pools: () => ({}),
    freeSpace: () => freeSpace(dataDir),
    close: () => db.destroy(),
  }
}

async function openPools(
  url: string,
  { config, report }: Pick<StorageParts, 'config' | 'report'>,
): Promise<OpenDatabase> {
  // A server with SQLite starts sooner without the client for PostgreSQL.
  const { openPostgres } = await import('./database/postgres.ts')
  const nonDurable = Math.max(1, Math.floor(config.databaseConnections * NON_DURABLE_SHARE))
  const durable = config.databaseConnections - nonDurable
  const options = { preparesStatements: config.databasePrepares, report }
  const pools = {
    db: openPostgres(url, { ...options, connections: durable, durable: true }),
    nonDurableDb: openPostgres(url, { ...options, connections: nonDurable, durable: false }),
  }
  async function close(): Promise<void> {
    await pools.db.destroy()
    await pools.nonDurableDb.destroy()
  }
  try {
    await assertRecentPostgres(pools.db)
  } catch (error) {
    await close()
    throw error
  }
  return {
    ...pools,
    isShared: true,
    pools: () => ({ main: pools.db.poolUse(), light: pools.nonDurableDb.poolUse() }),
    freeSpace: async () => null,
    close,
  }
}

/** False for a SQLite database that nobody has made yet. PostgreSQL's are made by others. */
export function databaseExists(config: Config): boolean {
  if (config.databaseUrl !== null) return true
  try {
    statSync(dataFolder(config.dataDir).database)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM'))
      throw wrongUser(config.dataDir)
    return false
  }
}

/** For a folder that is there, and closed to this user: it is no empty one. */
function wrongUser(folder: string): Refusal {
  const owner = ownerOf(folder)
  const whose = owner === undefined ? 'that the server runs as' : `"${userName(owner)}", whose it is`
  return new Refusal(
    'PRECONDITION_FAILED',
    `the user "${userName(process.getuid?.() ?? 0)}" may not look into ${folder}. Run this as the user ${whose}; where deploy/holdfast-command is installed, "sudo holdfast …" does that.`,
  )
}

/** Undefined for a folder that lies in another one that is closed. */
function ownerOf(folder: string): number | undefined {
  try {
    return statSync(folder).uid
  } catch {
    return undefined
  }
}

/** The number where the system has no name. */
function userName(uid: number): string {
  const users = readFileSync('/etc/passwd', 'utf8')
  return new RegExp(`^([^:]+):[^:]*:${uid}:`, 'm').exec(users)?.[1] ?? String(uid)
}

/** SQLite's file; null where there is none, or rows are in PostgreSQL. */
export function databaseFile(config: Config): string | null {
  return config.databaseUrl === null && databaseExists(config) ? dataFolder(config.dataDir).database : null
}

/** The settings that say where the bytes are. */
export type StoreSettings = Pick<Config, 's3' | 'dataDir' | 'groupRead'> &
  Partial<Pick<Config, 'maxFileSize'>>

type BlobsParts = Partial<Omit<StorageParts, 'config'>> & {
  readonly config: StoreSettings
  readonly random: Random
}

/** Opens the store that the settings name. `alone`: no other process has it open, so what is unfinished is nobody's. `isSyncedLater`: as in `openPlace`. */
export async function openBlobs(
  { config, random, watchStore }: BlobsParts,
  alone: boolean,
  { isSyncedLater = false } = {},
): Promise<BlobStore> {
  if (config.s3 !== null) {
    return openS3Blobs(config.s3, random, {
      ...(watchStore === undefined ? {} : { watch: watchStore }),
      ...(config.maxFileSize === undefined ? {} : { largest: config.maxFileSize }),
    })
  }
  const folder = await openDataFolder(config.dataDir, config.groupRead)
  return openDiskBlobs(folder.blobs, random, { alone, groupRead: config.groupRead, isSyncedLater })
}

/** Where the settings put the bytes. */
export function storePlace({ s3, dataDir }: StoreSettings): StorePlace {
  return s3 === null ? { kind: 'folder', path: dataFolder(dataDir).blobs } : { kind: 's3', s3 }
}

/** Bytes of the largest thing in a store beside the first one: a file, or a database in one piece. */
const LARGEST_BESIDE = 200 * 1024 ** 3

/**
 * Opens a store beside the first one, of a backup or the mirror, creating it when it is missing. `isSyncedLater`: in a folder
 * blobs are not durable before `syncFileSystem`.
 */
export async function openPlace(
  place: StorePlace,
  random: Random,
  { isSyncedLater = false } = {},
): Promise<BlobStore> {
  if (place.kind === 's3') return openS3Blobs(place.s3, random, { largest: LARGEST_BESIDE, isPatient: true })
  await openDataFolder(place.path)
  return openDiskBlobs(place.path, random, { alone: false, isSyncedLater })
}

/**
 * Opens a schema of a PostgreSQL database, for work that takes longer than a request. `beside`: another one, which has what
 * is not in it, as operators of extensions.
 */
export async function openCopy(url: string, schema: string, beside: string): Promise<Database> {
  const { openPostgres } = await import('./database/postgres.ts')
  return openPostgres(url, {
    connections: 1,
    durable: true,
    isPatient: true,
    schemas: [schema, beside],
    report() {},
  })
}

/** Opens a SQLite file by itself, creating it when it is missing. */
export function openRows(path: string): Database {
  return openSqlite(path)
}

/**
 * Keeps the data folder for this server where SQLite lies in it; nodes that share a PostgreSQL may share a folder.
 * Returns what gives it back. Throws DataFolderInUse.
 */
export async function holdDataFolder(config: Config): Promise<() => void> {
  if (config.databaseUrl !== null) return () => {}
  await openDataFolder(config.dataDir, config.groupRead)
  return lockDataFolder(config.dataDir)
}

/** What is kept back for deletes; null with PostgreSQL, for which they write nothing into the data folder, and without a floor. */
export function reserveOf({ databaseUrl, dataDir, minFreeSpace }: Config): Reserve | null {
  return databaseUrl === null && minFreeSpace > 0 ? createReserve(dataDir, minFreeSpace) : null
}

/** Bytes that the disk under the data folder has in all; null where nothing is in that folder. */
export async function dataDiskSize(config: Config): Promise<number | null> {
  return usesDataFolder(config) ? diskSize(config.dataDir) : null
}

const usesDataFolder = ({ databaseUrl, s3 }: Config) => databaseUrl === null || s3 === null

/** Keeps others on this machine out of the data folder, where there is one, and says what they could reach. */
export async function guardDataFolder({ config, log }: { config: Config; log: Log }): Promise<void> {
  if (!usesDataFolder(config)) return
  await openDataFolder(config.dataDir, config.groupRead)
  for (const { isMended, ...open } of await closeToOthers(config.dataDir, config.groupRead)) {
    log.warn(
      open,
      isMended
        ? 'others on this machine could reach this; now they cannot'
        : 'others on this machine can reach this, and its mode cannot be changed; run chmod as its owner',
    )
  }
}
