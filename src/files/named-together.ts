/** Several files or folders that are named in one request, of which some are the same or lie in another. */
import { yieldToEventLoop } from '../core/batches.ts'
import type { Database } from '../database/database.ts'
import type { FileId, FileIdentifier, FolderIdentifier } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { findFile } from './files.rows.ts'
import { findFolder, folderChain } from './folders/folders.rows.ts'

/** Without those that name a file of the account by another of its names once more. What names none stays. */
export async function eachFileOnce(
  db: Database,
  { account }: Reach,
  identifiers: readonly FileIdentifier[],
): Promise<FileIdentifier[]> {
  if (identifiers.length < 2) return [...identifiers]
  const met = new Set<FileId>()
  const once: FileIdentifier[] = []
  for (const identifier of identifiers) {
    const file = await findFile(db, identifier)
    // Nobody learns which names a foreign file has.
    const own = file?.account_id === account ? file.id : null
    if (own === null || !met.has(own)) once.push(identifier)
    if (own !== null) met.add(own)
    await yieldToEventLoop()
  }
  return once
}

/** Of each of the account's folders that lie in others of them: these others, the outermost first. */
export async function foldersAround(
  db: Database,
  { account }: Reach,
  identifiers: readonly FolderIdentifier[],
): Promise<ReadonlyMap<FolderIdentifier, readonly FolderIdentifier[]>> {
  const around = new Map<FolderIdentifier, readonly FolderIdentifier[]>()
  if (identifiers.length < 2) return around
  const named = new Set(identifiers)
  for (const identifier of identifiers) {
    const folder = await findFolder(db, identifier)
    if (folder?.account_id !== account) continue
    const above = (await folderChain(db, folder.id)).map((step) => step.identifier)
    around.set(
      identifier,
      above.filter((each) => each !== identifier && named.has(each)),
    )
    await yieldToEventLoop()
  }
  return around
}
