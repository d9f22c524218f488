import { type FileDetailRow, findFile } from '../database/files.ts'
import { type ChainRow, type FolderListRow, findFolder, folderChain } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { arrivingUpload } from '../database/uploads.ts'
import { decideAccess, type Viewer } from '../domain/access.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FileIdentifier, FolderId, FolderIdentifier } from '../domain/ids.ts'
import { folderNotFound } from './places.ts'
import type { Signing } from './signing.ts'

/** Seconds until it is worth asking for a file again that is still arriving. */
const ARRIVING_RETRY = 10

/** The outermost folder whose password comes next. */
export type LockedFolder = ChainRow

/** What a viewer gets to see of something: itself, or only that the password of a folder comes first. */
export type Seen<T> =
  | { readonly kind: 'open'; readonly item: T; readonly chain: readonly ChainRow[] }
  | { readonly kind: 'locked'; readonly folder: LockedFolder }

/** Asked by every public route, at every request; the rule itself is `decideAccess`. */
export interface Access {
  /** Throws Refusal FILE_NOT_FOUND when there is no such file for this viewer, FILE_ARRIVING before all of it is here. */
  file(viewer: Viewer, identifier: FileIdentifier): Promise<Seen<FileDetailRow>>
  /** Throws Refusal FOLDER_NOT_FOUND when there is no such folder for this viewer. */
  folder(viewer: Viewer, identifier: FolderIdentifier): Promise<Seen<FolderListRow>>
  /** Changes with every change of the password, and says nothing about it. */
  passwordTag(folder: FolderId, passwordHash: string): string
}

export function createAccess(db: Db, signing: Signing): Access {
  const tag = (folder: FolderId, hash: string) => signing.tag('folder-password', `${folder}\n${hash}`)

  async function decide<T>(
    viewer: Viewer,
    item: T,
    owner: AccountId,
    folder: FolderId,
    missing: () => Refusal,
  ): Promise<Seen<T>> {
    const chain = await folderChain(db, folder)
    if (chain.some((step) => step.deleted_at !== null)) throw missing()
    const access = decideAccess(
      viewer,
      owner,
      chain.map((step) => ({
        id: step.id,
        isPublic: step.is_public === 1,
        passwordTag: step.password_hash === null ? null : tag(step.id, step.password_hash),
      })),
    )
    switch (access.kind) {
      case 'open':
        return { kind: 'open', item, chain }
      case 'hidden':
        throw missing()
      case 'locked': {
        const locked = chain.find((step) => step.id === access.folder)
        if (locked === undefined) throw missing()
        return { kind: 'locked', folder: locked }
      }
    }
  }

  return {
    async file(viewer, identifier) {
      const file = await findFile(db, identifier)
      if (file !== undefined) return decide(viewer, file, file.account_id, file.folder_id, fileNotFound)
      const upload = await arrivingUpload(db, identifier)
      if (upload === undefined) throw fileNotFound()
      const seen = await decide(viewer, upload, upload.account_id, upload.folder_id, fileNotFound)
      if (seen.kind === 'locked') return seen
      throw new Refusal('FILE_ARRIVING', 'This file is still arriving; come back in a moment', ARRIVING_RETRY)
    },

    async folder(viewer, identifier) {
      const folder = await findFolder(db, identifier)
      if (folder === undefined) throw folderNotFound()
      return decide(viewer, folder, folder.account_id, folder.id, folderNotFound)
    },

    passwordTag: tag,
  }
}

/** What is open, or Refusal PASSWORD_REQUIRED: for routes that have no form to show. */
export function unlocked<T>(seen: Seen<T>): T {
  if (seen.kind === 'open') return seen.item
  throw new Refusal(
    'PASSWORD_REQUIRED',
    'This is behind a password; open its page and give the password first',
  )
}

export function fileNotFound(): Refusal {
  return new Refusal('FILE_NOT_FOUND', 'There is no such file')
}
