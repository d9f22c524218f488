import { recordAuditEntry } from '../core/audit-log.ts'
import { dropMeta, metaOf } from '../core/meta.rows.ts'
import { generationsOf, isBehind, takeOver } from '../core/store/generations.ts'
import { assertPaired, pairMeta } from '../core/store/pairing.ts'
import { isBlank } from '../database/migrate.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import { connect, databaseExists, openBlobs, type StorageOptions } from '../storage.ts'

/** What separated the database from its store: a newer database, or a relocation that moved everything away. */
export type TakenOver = 'nothing' | 'newer' | 'moved'

/**
 * Makes the configured database current for its store, with or without running servers, also when it was moved away and
 * left its store behind. Throws Refusal PRECONDITION_FAILED when there is none, and WrongStore.
 */
export async function takeOverStore(parts: StorageOptions): Promise<TakenOver> {
  const { config, clock, random } = parts
  if (!databaseExists(config)) throw nothingHere(config.dataDir)
  const storage = { ...parts, report() {} }
  const { db, close } = await connect(storage)
  try {
    if (await isBlank(db)) throw nothingHere(config.dataDir)
    const blobs = await openBlobs(storage, false)
    const wasMoved = (await metaOf(db, pairMeta.moved)) !== null
    await assertPaired(db, blobs, random, { mayBeMoved: true })
    if (!wasMoved && !isBehind(await generationsOf(db, blobs))) return 'nothing'
    await takeOver(db, blobs, async (trx, generation) => {
      await dropMeta(trx, [pairMeta.moved])
      await recordAuditEntry(trx, clock, COMMAND_LINE, {
        act: 'store.taken_over',
        object: null,
        details: { generation },
      })
    })
    return wasMoved ? 'moved' : 'newer'
  } finally {
    await close()
  }
}

function nothingHere(dataDir: string): Refusal {
  const message = `no database is in ${dataDir}, or the one that is configured is empty; restore it first`
  return new Refusal('PRECONDITION_FAILED', message)
}
