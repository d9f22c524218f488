import { keyHolderNow } from '../database/api-keys.ts'
import { type FileDetailRow, findFile } from '../database/files.ts'
import { type ChainRow, type FolderListRow, findFolder, folderChain } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { sessionHolderNow } from '../database/sessions.ts'
import { arrivingUpload } from '../database/uploads.ts'
import { type Asker, type ChainFolder, decideAccess, type Viewer, viewerOf } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FileIdentifier, FolderId, FolderIdentifier } from '../domain/ids.ts'
import { folderNotFound } from './places.ts'
import type { Signing } from './signing.ts'

/** Seconds until it is worth asking for a file again that is still arriving. */
const ARRIVING_RETRY = 10

/** The outermost folder whose password comes next. */
export type LockedFolder = ChainRow

/** Something that is open to the asker. */
export interface Opened<T> {
  readonly kind: 'open'
  readonly item: T
  /** Who the asker is to it, and to all below it. */
  readonly viewer: Viewer
  /** The folders that lead to it, the outermost first, as far as they exist for the asker. */
  readonly chain: readonly ChainRow[]
}

/** What somebody gets to see of something: itself, or only that the password of a folder comes first. */
export type Seen<T> = Opened<T> | { readonly kind: 'locked'; readonly folder: LockedFolder }

/** What of a folder may keep somebody out. */
export type Barrier = Pick<FolderListRow, 'id' | 'account_id' | 'is_public' | 'password_hash'>

/** Asked by every public route, at every request; the rule itself is `decideAccess`. */
export interface Access {
  /** Throws Refusal FILE_NOT_FOUND when there is no such file for the asker, FILE_ARRIVING before all of it is here. */
  file(asker: Asker, identifier: FileIdentifier): Promise<Seen<FileDetailRow>>
  /** Throws Refusal FOLDER_NOT_FOUND when there is no such folder for the asker. */
  folder(asker: Asker, identifier: FolderIdentifier): Promise<Seen<FolderListRow>>
  /**
   * Whom a signed address speaks for by now: nobody in particular, once the key was revoked or has expired, or the session is
   * over, that it was asked for with, and once the account is disabled or gone.
   */
  signed(asker: Asker): Promise<Asker>
  /** Whether a viewer who may see a folder may also see this one, which is directly in it. */
  opens(viewer: Viewer, folder: Barrier): boolean
  /** Changes with every change of the password, and says nothing about it. */
  passwordTag(folder: FolderId, passwordHash: string): string
}

export function createAccess(db: Db, signing: Signing, clock: Clock): Access {
  const tag = (folder: FolderId, hash: string) => signing.tag('folder-password', `${folder}\n${hash}`)

  const asChainFolder = ({ id, is_public, password_hash }: Omit<Barrier, 'account_id'>): ChainFolder => ({
    id,
    isPublic: is_public === 1,
    passwordTag: password_hash === null ? null : tag(id, password_hash),
  })

  async function decide<T>(
    asker: Asker,
    item: T,
    owner: AccountId,
    folder: FolderId,
    missing: () => Refusal,
  ): Promise<Seen<T>> {
    const chain = await folderChain(db, folder)
    if (chain.some((step) => step.deleted_at !== null)) throw missing()
    const viewer = viewerOf(asker, chain)
    const access = decideAccess(viewer, owner, chain.map(asChainFolder))
    switch (access.kind) {
      case 'open':
        return { kind: 'open', item, viewer, chain: shownChain(asker, viewer, chain) }
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
    async file(asker, identifier) {
      const file = await findFile(db, identifier)
      if (file !== undefined) return decide(asker, file, file.account_id, file.folder_id, fileNotFound)
      const upload = await arrivingUpload(db, identifier)
      if (upload === undefined) throw fileNotFound()
      const seen = await decide(asker, upload, upload.account_id, upload.folder_id, fileNotFound)
      if (seen.kind === 'locked') return seen
      throw new Refusal('FILE_ARRIVING', 'This file is still arriving; come back in a moment', ARRIVING_RETRY)
    },

    async folder(asker, identifier) {
      const folder = await findFolder(db, identifier)
      if (folder === undefined) throw folderNotFound()
      return decide(asker, folder, folder.account_id, folder.id, folderNotFound)
    },

    async signed(asker) {
      if (asker.reach === null) return asker
      const { account, by } = asker.reach
      const now = clock.now()
      const holder =
        by.kind === 'key' ? await keyHolderNow(db, by.key, now) : await sessionHolderNow(db, by.session, now)
      return holder === account ? asker : { ...asker, reach: null }
    },

    opens: (viewer, folder) =>
      decideAccess(viewer, folder.account_id, [asChainFolder(folder)]).kind === 'open',

    passwordTag: tag,
  }
}

/** What is above the folder that an owner is kept to does not exist for them. */
function shownChain(asker: Asker, viewer: Viewer, chain: readonly ChainRow[]): readonly ChainRow[] {
  const within = asker.reach?.within ?? null
  if (within === null || viewer.account === null) return chain
  return chain.slice(chain.findIndex((step) => step.identifier === within))
}

/** What is open, or Refusal PASSWORD_REQUIRED: for routes that have no form to show. */
export function unlocked<T>(seen: Seen<T>): T {
  return opened(seen).item
}

/** The same, with who the asker is to it. */
export function opened<T>(seen: Seen<T>): Opened<T> {
  if (seen.kind === 'open') return seen
  throw new Refusal('PASSWORD_REQUIRED', 'This needs a password; open its page and enter the password first')
}

export function fileNotFound(): Refusal {
  return new Refusal('FILE_NOT_FOUND', 'There is no such file')
}
