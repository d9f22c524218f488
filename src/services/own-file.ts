import { type FileDetailRow, findFile } from '../database/files.ts'
import type { Db } from '../database/schema.ts'
import type { FileIdentifier } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { fileNotFound } from './access.ts'
import { isWithin } from './places.ts'

/** The live file, if it is within reach. Throws Refusal FILE_NOT_FOUND, for a foreign one just as for a missing one. */
export async function ownFile(db: Db, reach: Reach, identifier: FileIdentifier): Promise<FileDetailRow> {
  const file = await findFile(db, identifier)
  if (file === undefined || file.account_id !== reach.account) throw fileNotFound()
  if (!(await isWithin(db, reach, file.folder_id))) throw fileNotFound()
  return file
}
