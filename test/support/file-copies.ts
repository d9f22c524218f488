import { changeTotals } from '../../src/database/accounts.ts'
import { changeFiles } from '../../src/database/folders.ts'
import type { Db } from '../../src/database/schema.ts'
import { foldName } from '../../src/domain/file-name.ts'
import type { FileId, Uuid } from '../../src/domain/ids.ts'
import { makeSlug, systemRandom } from '../../src/domain/random.ts'

/** Rows in one statement, which may hold so many values. */
const AT_ONCE = 500

/**
 * Files with the content of the given one, in its folder, written straight into the database: uploading them takes
 * long. They have its name or, by their number from 0, the name that is asked for. Returns their ids.
 */
export function addCopies(
  db: Db,
  original: number,
  count: number,
  nameOf?: (number: number) => string,
): Promise<number[]> {
  return db.transaction().execute(async (trx) => {
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
    await changeTotals(trx, row.account_id, { files: count, storage: count * row.size })
    await changeFiles(trx, row.folder_id, count, count * row.size)
    return ids
  })
}
