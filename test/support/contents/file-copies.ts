import { changeTotals } from '../../../src/core/accounts.rows.ts'
import type { Database } from '../../../src/database/database.ts'
import { lockAccount } from '../../../src/database/differences.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import type { FileId, Uuid } from '../../../src/domain/ids.ts'
import { makeSlug, systemRandom } from '../../../src/domain/random.ts'
import { foldName, sortKey } from '../../../src/domain/sort-key.ts'
import { changeFiles } from '../../../src/files/folders/folders.rows.ts'

/** Rows per statement, whose number of values is limited. */
const AT_ONCE = 500

/**
 * Inserts files with the content and the folder of the given one directly into the database, because uploads
 * take long. They have its name or that from `nameOf`, by their number from 0. Returns their ids.
 */
export function addCopies(
  db: Database,
  original: number,
  count: number,
  nameOf?: (number: number) => string,
): Promise<number[]> {
  return inTransaction(db, async (trx) => {
    const row = await trx
      .selectFrom('files')
      .selectAll()
      .where('id', '=', original as FileId)
      .executeTakeFirstOrThrow()
    const { id: _, ...columns } = row
    const ids: number[] = []
    for (let first = 0; first < count; first += AT_ONCE) {
      const rows = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, each) => {
        const name = nameOf?.(first + each) ?? row.name
        return {
          ...columns,
          name,
          name_folded: foldName(name),
          name_sort: sortKey(name),
          uuid: crypto.randomUUID() as Uuid,
          slug: makeSlug(systemRandom),
        }
      })
      const made = await trx.insertInto('files').values(rows).returning('id').execute()
      ids.push(...made.map(({ id }) => id))
    }
    await trx
      .updateTable('blobs')
      .set((blob) => ({ refs: blob('refs', '+', count) }))
      .where('id', '=', row.blob_id)
      .execute()
    await lockAccount(trx, row.account_id)
    await changeTotals(trx, row.account_id, { files: count, storage: count * row.size })
    await changeFiles(trx, row.folder_id, count, count * row.size)
    return ids
  })
}
