import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import { fitsStorage } from '../../core/reservations.rows.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import { type FileIdentifier, type FolderPlace, GUESTS } from '../../domain/ids.ts'
import { GUEST_REACH, type Reach } from '../../domain/reach.ts'
import { type FileDetailRow, findFile, giveFile } from '../../files/files.rows.ts'
import { changeFiles } from '../../files/folders/folders.rows.ts'
import { assertFolderExists, isWithin, resolvePlace } from '../../files/folders/places.ts'
import { ownFile } from '../../files/own-file.ts'
import { limitOf, type StorageLimits, storageFull } from '../storage-limits.ts'
import { giveUploads } from '../uploads.rows.ts'
import { giveLinks } from './guest-links.rows.ts'

export interface Claimant {
  readonly reach: Reach
  readonly place: FolderPlace
}

interface ClaimParts {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
  readonly limits: StorageLimits
}

/**
 * In one transaction under the locks of storing. A file already the account's stays, so a claim may be repeated. Throws
 * Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND or STORAGE_LIMIT_EXCEEDED.
 */
export async function claimFile(
  { db, clock, limits }: ClaimParts,
  identifier: FileIdentifier & { readonly kind: 'uuid' },
  { reach, place }: Claimant,
): Promise<FileDetailRow> {
  const { account } = reach
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, GUESTS)
    await lockAccount(trx, account)
    const present = await findFile(trx, identifier)
    if (present?.account_id === account && (await isWithin(trx, reach, present.folder_id))) return
    const { id, folder_id: from, size } = await ownFile(trx, GUEST_REACH, identifier)
    const folder = await resolvePlace(trx, reach, place)
    await assertFolderExists(trx, folder)
    if (!(await fitsStorage(trx, account, size, limitOf(account, limits)))) {
      throw await storageFull(trx, account, limits)
    }
    await giveFile(trx, id, { account, folder, now: clock.now() })
    await giveUploads(trx, identifier.uuid, { account, folder })
    await giveLinks(trx, id, account)
    await changeTotals(trx, GUESTS, { storage: -size, files: -1 })
    await changeFiles(trx, from, -1, -size)
    await changeTotals(trx, account, { storage: size, files: 1 })
    await changeFiles(trx, folder, 1, size)
    await noteChange(trx, account, { kind: 'file.added', file: id, place: folder })
  })
  return ownFile(db, reach, identifier)
}
