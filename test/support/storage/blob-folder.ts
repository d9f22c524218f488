/** Content of a data folder, read directly: files under `blobs/`, and the rows that reference them. */
import { Database } from 'bun:sqlite'
import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const keys = z.array(z.object({ key: z.string() }))

/** Names of partial blobs between two appends, `<data>/blobs/resumable/<key>`. */
export function resumableBlobs(dataDir: string): string[] {
  return entries(join(dataDir, 'blobs/resumable')).map(({ name }) => name)
}

/** Names of unfinished blobs, `<data>/blobs/tmp/<key>`. */
export function unfinishedBlobs(dataDir: string): string[] {
  return entries(join(dataDir, 'blobs/tmp')).map(({ name }) => name)
}

/** Keys of finished blobs, `<data>/blobs/<2 hex>/<key>`. */
export function finishedBlobs(dataDir: string): string[] {
  return entries(join(dataDir, 'blobs'))
    .filter((entry) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name))
    .flatMap(({ name }) => entries(join(dataDir, 'blobs', name)))
    .map(({ name }) => name)
}

/** For reading, also while a server uses it or is just closing it. */
export function databaseOf(dataDir: string): Database {
  const database = new Database(join(dataDir, 'holdfast.sqlite'), { readonly: true })
  database.run('pragma busy_timeout = 10000')
  return database
}

/**
 * Inconsistencies between the database and the blobs of a data folder without a running server; empty when
 * there are none. `cleaned`: unfinished files and unreferenced blobs count too.
 */
export function inconsistencies(dataDir: string, { cleaned }: { readonly cleaned: boolean }): string[] {
  using database = databaseOf(dataDir)
  const select = (sql: string) => new Set(keys.parse(database.query(sql).all()).map(({ key }) => key))
  const thumbnails = select('select key from thumbnails where key is not null')
  const wanted = select('select key from blobs').union(thumbnails)
  const garbage = select('select key from blob_garbage')
  const uploads = select('select key from uploads where ended_at is null')
  const stored = new Set(finishedBlobs(dataDir))
  const found = [
    ...database
      .query('pragma integrity_check')
      .values()
      .flat()
      .filter((line) => line !== 'ok'),
    ...database
      .query('pragma foreign_key_check')
      .values()
      .map((row) => `foreign key: ${row.join(' ')}`),
  ].map(String)
  for (const key of wanted) if (!stored.has(key)) found.push(`blob ${key} has a row and no bytes`)
  if (!cleaned) return found
  for (const key of stored) {
    if (!wanted.has(key) && !garbage.has(key) && !uploads.has(key))
      found.push(`blob ${key} has bytes and no row`)
  }
  for (const key of resumableBlobs(dataDir)) {
    if (!garbage.has(key) && !uploads.has(key)) found.push(`resumable file ${key} belongs to no upload`)
  }
  for (const key of unfinishedBlobs(dataDir)) found.push(`unfinished file ${key} stayed`)
  return found
}

/** A missing folder counts as empty: the store creates folders when it first needs them. */
function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
