import { createAccounts } from '../../../src/accounts/accounts.ts'
import { adoptBlobs, type NewBlob } from '../../../src/core/blobs.rows.ts'
import type { Database, Trx } from '../../../src/database/database.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import type { AccountId, BlobId, FileId, FolderId, Sha256 } from '../../../src/domain/ids.ts'
import { makeBlobKey, makeSlug, makeUuid, systemRandom } from '../../../src/domain/random.ts'
import { insertFiles } from '../../../src/files/files.ts'
import { resolvePlace } from '../../../src/files/folders/places.ts'
import { handClock } from '../hand-clock.ts'

export interface AccountWithFile {
  readonly account: AccountId
  /** Its top level. */
  readonly folder: FolderId
  /** A file there, which no total counts. */
  readonly file: FileId
}

/** A new account with one row of a file, to be copied by `addCopies`. */
export async function accountWithFile(db: Database, username: string): Promise<AccountWithFile> {
  const account = (await createAccounts(db, handClock(), systemRandom).add(username)).id
  const folder = await resolvePlace(db, { account, within: null }, 'root')
  const file = await inTransaction(db, async (trx) => {
    const sha256 = Buffer.from(systemRandom(32)).toString('hex') as Sha256
    const blob = { key: makeBlobKey(systemRandom), sha256, crc32: 0, size: 1, created_at: 0 }
    return insertFile(trx, {
      uuid: makeUuid(systemRandom),
      slug: makeSlug(systemRandom),
      account_id: account,
      folder_id: folder,
      blob_id: await adoptBlob(trx, blob, 0),
      name: 'first',
      name_folded: 'first',
      size: 1,
      type: 'text/plain',
      created_at: 0,
      last_used_at: 0,
    })
  })
  return { account, folder, file }
}

export async function adoptBlob(trx: Trx, blob: NewBlob, garbageDueAt: number): Promise<BlobId> {
  const id = (await adoptBlobs(trx, [blob], garbageDueAt)).get(blob.key)
  if (id === undefined) throw new Error('an adopted blob has no id')
  return id
}

export async function insertFile(trx: Trx, file: Parameters<typeof insertFiles>[1][number]): Promise<FileId> {
  const id = (await insertFiles(trx, [file])).get(file.uuid)
  if (id === undefined) throw new Error('a new file has no id')
  return id
}
