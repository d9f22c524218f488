import { assertPaired, type Installation } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import { missingMigrations } from '../database/migrate.ts'
import { preconditionFailed } from '../domain/errors.ts'
import { connect, databaseExists, openBlobs, type StorageOptions } from '../storage.ts'

/**
 * Opens the configured installation, beside running servers, while `use` runs. Throws Refusal PRECONDITION_FAILED
 * without a database of this version, and WrongStore.
 */
export async function withInstallation<T>(
  parts: StorageOptions,
  use: (installation: Installation) => Promise<T>,
): Promise<T> {
  const { config, random } = parts
  if (!databaseExists(config)) throw preconditionFailed(`there is no Holdfast data in ${config.dataDir}`)
  const storage = { ...parts, report() {} }
  const { close, ...database } = await connect(storage)
  try {
    await assertOwnVersion(database.db)
    const blobs = await openBlobs(storage, false)
    await assertPaired(database.db, blobs, random)
    return await use({ ...database, blobs })
  } finally {
    await close()
  }
}

/** Throws Refusal PRECONDITION_FAILED for another schema version. */
export async function assertOwnVersion(db: Database): Promise<void> {
  if ((await missingMigrations(db)) === 0) return
  throw preconditionFailed(
    'the database is not of this program\'s version; "holdfast migrate" brings it there',
  )
}
