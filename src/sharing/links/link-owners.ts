import type { Database } from '../../database/database.ts'
import type { LinkDownloader, Requester } from '../../domain/access.ts'
import type { Reach } from '../../domain/reach.ts'
import { findFolder } from '../../files/folders/folders.rows.ts'
import { fileNotFound } from '../../files/own-file.ts'
import { countLinks, type LinkRow } from './links.rows.ts'

/** Whether the caller owns all targets. A key restricted to another folder does not. */
export async function isLinkOwner(
  db: Database,
  reach: Reach | null,
  { slug, account_id }: LinkRow,
): Promise<boolean> {
  if (reach === null || reach.account !== account_id) return false
  const { account, within } = reach
  if (within === null) return true
  const folder = await findFolder(db, within)
  return folder !== undefined && (await countLinks(db, { account, within: folder.id, slug })) > 0
}

/** Null for the owner. Throws Refusal FILE_NOT_FOUND when the owner's rights are void. */
export async function signedFor(
  db: Database,
  { reach, signed = null }: Requester,
  link: LinkRow,
  visitor: LinkDownloader | null,
): Promise<LinkDownloader | null> {
  if (await isLinkOwner(db, reach, link)) return null
  if (visitor === null && !(await isLinkOwner(db, signed, link))) throw fileNotFound()
  return visitor
}
