/** Storage below the servers of a test: an empty database and store, removed afterwards. */

import { mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import type { Config } from '../../../src/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createMigratedDatabase, writeMigratedSqlite } from '../databases/migrated-database.ts'
import { bytesOf, keysOf } from '../storage/blob-chunks.ts'
import { finishedBlobs, resumableBlobs, unfinishedBlobs } from '../storage/blob-folder.ts'
import { newBucket } from '../storage/ceph.ts'
import { type NodeGroup, type NodeParts, startCluster, startOneNode } from './node-group.ts'

export interface Pair {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl' | 's3'>
  /** A connection of the test's own, opened at first use, after the servers have created the tables. */
  readonly database: Database
  /** Keys in the store, including unfinished blobs. */
  blobs(): Promise<string[]>
  /** Truncates a blob behind the servers' back; null removes it. */
  cutBlob(key: BlobKey, length: number | null): Promise<void>
  start(parts: NodeParts): Promise<NodeGroup>
  remove(): Promise<void>
}

/** SQLite and a folder, with one node. */
export async function folderPair(given: string | undefined): Promise<Pair> {
  const dataDir = given ?? (await temporaryFolder())
  // A folder that a test gives may have a database, or is about one that has none.
  if (given === undefined) await writeMigratedSqlite(join(dataDir, 'holdfast.sqlite'))
  const database = once(() => openSqlite(join(dataDir, 'holdfast.sqlite')))
  return {
    config: { dataDir, databaseUrl: null, s3: null },
    get database() {
      return database.get()
    },
    blobs: async () => [...finishedBlobs(dataDir), ...unfinishedBlobs(dataDir), ...resumableBlobs(dataDir)],
    async cutBlob(key, length) {
      const path = join(dataDir, 'blobs', key.slice(0, 2), key)
      await (length === null ? rm(path) : truncate(path, length))
    },
    start: startOneNode,
    async remove() {
      await database.made()?.destroy()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL and S3, with three nodes behind a balancer. */
export async function clusterPair(): Promise<Pair> {
  const [dataDir, { url, drop }, s3] = await Promise.all([
    temporaryFolder(),
    createMigratedDatabase(),
    newBucket(),
  ])
  const database = once(() =>
    openPostgres(url, {
      connections: 2,
      durable: true,
      report: (error) => console.error('the test’s own connection failed', error),
    }),
  )
  const store = once(() => openS3Blobs(s3, systemRandom))
  return {
    config: { dataDir, databaseUrl: url, s3 },
    get database() {
      return database.get()
    },
    blobs: async () => keysOf(await store.get()),
    async cutBlob(key, length) {
      const blobs = await store.get()
      const left = length === null ? null : await bytesOf(await blobs.read(key, 0, length))
      await blobs.remove(key)
      if (left === null) return
      const writer = await blobs.create(key)
      await writer.write(left)
      await writer.complete()
    },
    start: startCluster,
    async remove() {
      await database.made()?.destroy()
      await drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'holdfast-test-'))
}

/** Creates the value at first use. */
function once<T>(make: () => T): { get(): T; made(): T | null } {
  let value: { readonly it: T } | null = null
  return {
    get() {
      value ??= { it: make() }
      return value.it
    },
    made: () => value?.it ?? null,
  }
}
