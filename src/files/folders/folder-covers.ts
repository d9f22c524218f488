import { noteChange } from '../../core/changes.rows.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Reach } from '../../domain/access.ts'
import type { FolderId, FolderIdentifier, Uuid } from '../../domain/ids.ts'
import { makeUuid, type Random } from '../../domain/random.ts'
import { ownFolder } from './places.ts'

export interface FolderCover {
  readonly folder: FolderId
  /** WebP. */
  readonly picture: Uint8Array<ArrayBuffer>
}

export interface FolderCovers {
  /** The picture gets a new identifier. Throws Refusal FOLDER_NOT_FOUND. */
  setCover(reach: Reach, identifier: FolderIdentifier, picture: Uint8Array): Promise<Uuid>
  /** Null for a replaced picture. Does not check access. */
  findCover(uuid: Uuid): Promise<FolderCover | null>
}

export function createFolderCovers(db: Database, random: Random): FolderCovers {
  return {
    async setCover(reach, identifier, picture) {
      const uuid = makeUuid(random)
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, reach.account)
        const { id, parent_id: place } = await ownFolder(trx, reach, identifier)
        await trx.deleteFrom('folder_covers').where('folder_id', '=', id).execute()
        const cover = { uuid, folder_id: id, picture: Buffer.from(picture).toString('base64') }
        await trx.insertInto('folder_covers').values(cover).execute()
        await trx.updateTable('folders').set({ cover: uuid }).where('id', '=', id).execute()
        await noteChange(trx, reach.account, { kind: 'folder.changed', folder: identifier, place })
      })
      return uuid
    },

    async findCover(uuid) {
      const row = await db
        .selectFrom('folder_covers')
        .select(['folder_id as folder', 'picture'])
        .where('uuid', '=', uuid)
        .executeTakeFirst()
      return row === undefined
        ? null
        : { ...row, picture: new Uint8Array(Buffer.from(row.picture, 'base64')) }
    },
  }
}
