import { recordAuditEntry } from '../core/audit-log.ts'
import { generationsOf, isBehind, takeOver } from '../core/store/generations.ts'
import { assertPaired } from '../core/store/pairing.ts'
import { isBlank } from '../database/migrate.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import { connect, databaseExists, openBlobs, type StorageOptions } from '../storage.ts'

/**
 * Makes the configured database current for its store, with or without running servers; false when it is
 * already. Throws Refusal PRECONDITION_FAILED when there is none, and WrongStore.
 */
export async function takeOverStore(parts: StorageOptions): Promise<boolean> {
  const { config, clock, random } = parts
  if (!databaseExists(config)) throw nothingHere(config.dataDir)
  const storage = { ...parts, report() {} }
  const { db, close } = await connect(storage)
  try {
    if (await isBlank(db)) throw nothingHere(config.dataDir)
    const blobs = await openBlobs(storage, false)
    await assertPaired(db, blobs, random)
    if (!isBehind(await generationsOf(db, blobs))) return false
    await takeOver(db, blobs, (trx, generation) =>
      recordAuditEntry(trx, clock, COMMAND_LINE, {
        act: 'store.taken_over',
        object: null,
        details: { generation },
      }),
    )
    return true
  } finally {
    await close()
  }
}

function nothingHere(dataDir: string): Refusal {
  const message = `no database is in ${dataDir}, or the one that is configured is empty; restore it first`
  return new Refusal('PRECONDITION_FAILED', message)
}
