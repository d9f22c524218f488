import { isBlank } from './database/migrate.ts'
import { Refusal } from './domain/errors.ts'
import { generationsOf, isBehind, takeOver } from './services/generations.ts'
import { assertPaired } from './services/pairing.ts'
import { connect, databaseExists, openBlobs, type Parts } from './storage.ts'

/**
 * Makes the database that the settings name the one that counts for its store, beside running servers or without; false
 * when it was already. Throws Refusal PRECONDITION_FAILED where there is none, and WrongStore.
 */
export async function takeOverStore(parts: Parts): Promise<boolean> {
  const { config, random } = parts
  if (!databaseExists(config)) throw nothingHere(config.dataDir)
  const storage = { ...parts, report() {} }
  const { db, close } = await connect(storage)
  try {
    if (await isBlank(db)) throw nothingHere(config.dataDir)
    const blobs = await openBlobs(storage, false)
    await assertPaired(db, blobs, random)
    if (!isBehind(await generationsOf(db, blobs))) return false
    await takeOver(db, blobs)
    return true
  } finally {
    await close()
  }
}

function nothingHere(dataDir: string): Refusal {
  const message = `no database is in ${dataDir}, or the one that is configured is empty; restore it first`
  return new Refusal('PRECONDITION_FAILED', message)
}
