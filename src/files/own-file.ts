import type { Queryable } from '../database/database.ts'
import type { Reach } from '../domain/access.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileIdentifier } from '../domain/ids.ts'
import { type FileDetailRow, findFile } from './files.rows.ts'
import { isWithin } from './folders/places.ts'

/** Throws Refusal FILE_NOT_FOUND, also for a foreign file. */
export async function ownFile(
  db: Queryable,
  reach: Reach,
  identifier: FileIdentifier,
): Promise<FileDetailRow> {
  const file = await findFile(db, identifier)
  if (file === undefined || file.account_id !== reach.account) throw fileNotFound()
  if (!(await isWithin(db, reach, file.folder_id))) throw fileNotFound()
  return file
}

export function fileNotFound(): Refusal {
  return new Refusal('FILE_NOT_FOUND', 'There is no such file')
}
