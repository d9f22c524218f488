import { keyHolderNow } from '../accounts/keys/api-keys.rows.ts'
import { sessionHolderNow } from '../accounts/sign-in/sessions.rows.ts'
import { findAccount } from '../core/accounts.rows.ts'
import type { Caller, Credential } from '../core/callers.ts'
import type { Signing } from '../core/hmac.ts'
import type { Database } from '../database/database.ts'
import {
  type ChainFolder,
  decideAccess,
  decideBelow,
  type Evidence,
  isClosedTo,
  type Requester,
  type SignedRights,
  type Viewer,
  viewerOf,
} from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FileId, FileIdentifier, FolderId, FolderIdentifier } from '../domain/ids.ts'
import { type FileDetailRow, findPlacedFile } from '../files/files.rows.ts'
import {
  type ChainRow,
  type FolderListRow,
  folderChain,
  folderOrBelowDeleted,
} from '../files/folders/folders.rows.ts'
import { folderNotFound } from '../files/folders/places.ts'
import { fileNotFound } from '../files/own-file.ts'
import { withPartialReceived } from '../uploads/resumable/concatenation.ts'
import { arrivingUpload, type UploadRow } from '../uploads/uploads.rows.ts'

/** Seconds. */
const ARRIVING_RETRY = 10

/** Closed folders in the signed address of an archive: it has to fit into a request line. */
const MOST_CLOSED = 256

export type LockedFolder = ChainRow

export interface Opened<T> {
  readonly kind: 'open'
  readonly item: T
  readonly viewer: Viewer
  /** Visible ancestors, outermost first. */
  readonly chain: readonly ChainRow[]
  /** Folders closed to everybody but the owner; an address signed now bypasses these and no more. */
  readonly closed: SignedRights['closed']
  readonly isForAnybody: boolean
}

export type AccessResult<T> = Opened<T> | { readonly kind: 'locked'; readonly folder: LockedFolder }

export type Barrier = Pick<FolderListRow, 'id' | 'account_id' | 'is_public' | 'password_hash' | 'closing'>

export interface AccessControl {
  /** Throws Refusal FILE_NOT_FOUND, also for an invisible file, or FILE_ARRIVING. */
  file(
    requester: Requester | Promise<Requester>,
    identifier: FileIdentifier,
  ): Promise<AccessResult<FileDetailRow>>
  /** Throws Refusal FILE_NOT_FOUND when the file would be invisible. */
  arriving(requester: Requester, identifier: FileIdentifier): Promise<AccessResult<UploadRow> | null>
  /** Throws Refusal FOLDER_NOT_FOUND, also for an invisible folder. */
  folder(
    requester: Requester | Promise<Requester>,
    name: FolderIdentifier | FolderId,
  ): Promise<AccessResult<FolderListRow>>
  /**
   * Re-validates a signed address, which is void once its key or session was revoked or has expired, or its
   * account was disabled or deleted. A key or session that authenticated `caller` is not looked up again.
   */
  signed(requester: Requester, caller: Caller | null): Promise<Requester>
  /** On the owner's behalf. Throws Refusal INVALID_REQUEST when an address cannot hold the rights. */
  rightsTo(
    account: AccountId,
    folders: ReadonlySet<FolderId>,
  ): Promise<Pick<SignedRights, 'closed' | 'closings'>>
  /** Assumes that the viewer may see the parent folder. */
  opens(viewer: Viewer, folder: Barrier): boolean
  /** Changes with the password and does not reveal it. */
  passwordTag(folder: FolderId, passwordHash: string): string
}

export function createAccess(db: Database, signing: Signing, clock: Clock): AccessControl {
  const tag = (folder: FolderId, hash: string) => signing.tag('folder-password', `${folder}\n${hash}`)

  const asChainFolder = (folder: Omit<Barrier, 'account_id'>) => chainFolder(folder, tag)

  function decide<T>(
    requester: Requester,
    item: T,
    owner: AccountId,
    { chain, file = null }: { readonly chain: readonly ChainRow[]; readonly file?: FileId | null },
    missing: () => Refusal,
  ): AccessResult<T> {
    if (chain.some((step) => step.deleted_at !== null)) throw missing()
    const viewer = viewerOf(requester, chain)
    const steps = chain.map(asChainFolder)
    const access = decideAccess(viewer, owner, steps, file)
    switch (access.kind) {
      case 'open':
        return {
          kind: 'open',
          item,
          viewer,
          chain: shownChain(requester, viewer, chain),
          closed: closedIn(steps, requester.grants),
          isForAnybody: closedIn(steps, new Map()).size === 0,
        }
      case 'hidden':
        throw missing()
      case 'locked': {
        const locked = chain.find((step) => step.id === access.folder)
        if (locked === undefined) throw missing()
        return { kind: 'locked', folder: locked }
      }
    }
  }

  async function arriving(
    requester: Requester,
    identifier: FileIdentifier,
  ): Promise<AccessResult<UploadRow> | null> {
    const upload = await arrivingUpload(db, identifier)
    if (upload === undefined) return null
    const present = await withPartialReceived(db, upload)
    const chain = await folderChain(db, upload.folder_id)
    return decide(requester, present, upload.account_id, { chain }, fileNotFound)
  }

  return {
    arriving,

    async file(asking, identifier) {
      const [requester, found] = await Promise.all([asking, findPlacedFile(db, identifier)])
      if (found !== undefined) {
        const { file, chain } = found
        return decide(requester, file, file.account_id, { chain, file: file.id }, fileNotFound)
      }
      const seen = await arriving(requester, identifier)
      if (seen === null) throw fileNotFound()
      if (seen.kind === 'locked') return seen
      throw new Refusal('FILE_ARRIVING', 'This file is still arriving; come back in a moment', ARRIVING_RETRY)
    },

    async folder(asking, name) {
      const [requester, folder] = await Promise.all([asking, folderOrBelowDeleted(db, name)])
      if (folder === undefined) throw folderNotFound()
      const chain = await folderChain(db, folder.id)
      return decide(requester, folder, folder.account_id, { chain }, folderNotFound)
    },

    signed: (requester, caller) => signedNow(db, requester, caller, clock.now()),

    rightsTo: (account, folders) =>
      rightsTo(db, account, folders, async (folder) => (await folderChain(db, folder)).map(asChainFolder)),

    opens: (viewer, folder) => decideBelow(viewer, folder.account_id, asChainFolder(folder)).kind === 'open',

    passwordTag: tag,
  }
}

function chainFolder(
  { id, is_public, password_hash, closing }: Omit<Barrier, 'account_id'>,
  tag: AccessControl['passwordTag'],
): ChainFolder {
  const passwordTag = password_hash === null ? null : tag(id, password_hash)
  return { id, isPublic: is_public === 1, passwordTag, closing }
}

async function rightsTo(
  db: Database,
  account: AccountId,
  folders: ReadonlySet<FolderId>,
  chainOf: (folder: FolderId) => Promise<readonly ChainFolder[]>,
): Promise<Pick<SignedRights, 'closed' | 'closings'>> {
  // Read before the chains, so that a folder closed meanwhile stays closed.
  const closings = (await findAccount(db, account))?.closings ?? 0
  const closed = new Map<FolderId, number>()
  for (const folder of folders) {
    for (const [id, closing] of closedIn(await chainOf(folder), new Map())) closed.set(id, closing)
    if (closed.size > MOST_CLOSED) throw tooManyClosed()
  }
  return { closed, closings }
}

function closedIn(chain: readonly ChainFolder[], grants: Viewer['grants']): SignedRights['closed'] {
  return new Map(chain.filter((step) => isClosedTo({ grants }, step)).map(({ id, closing }) => [id, closing]))
}

async function signedNow(
  db: Database,
  requester: Requester,
  caller: Caller | null,
  now: number,
): Promise<Requester> {
  const { signed = null } = requester
  if (signed === null) return requester
  const { account, by } = signed
  const holder =
    caller?.kind === 'account' && isSame(caller.by, by) ? caller.account : await holderNow(db, by, now)
  return holder === account ? requester : { ...requester, signed: null }
}

function isSame(credential: Credential, by: Evidence): boolean {
  if (credential.kind === 'key') return by.kind === 'key' && by.key === credential.key
  return by.kind === 'session' && by.session === credential.session
}

function holderNow(db: Database, by: Evidence, now: number): Promise<AccountId | null> {
  return by.kind === 'key' ? keyHolderNow(db, by.key, now) : sessionHolderNow(db, by.session, now)
}

/** Hides ancestors of the folder to which a key is restricted, and of a link's target. */
function shownChain(requester: Requester, viewer: Viewer, chain: readonly ChainRow[]): readonly ChainRow[] {
  const { link = null } = viewer
  if (link !== null) {
    const target = chain.findIndex(({ id }) => link.folders.has(id))
    return target === -1 ? [] : chain.slice(target)
  }
  const within = requester.reach?.within ?? null
  if (within === null || viewer.account === null) return chain
  return chain.slice(chain.findIndex((step) => step.identifier === within))
}

/** For routes without a password form: throws Refusal PASSWORD_REQUIRED. */
export function unlocked<T>(seen: AccessResult<T>): T {
  return opened(seen).item
}

export function opened<T>(seen: AccessResult<T>): Opened<T> {
  if (seen.kind === 'open') return seen
  throw new Refusal('PASSWORD_REQUIRED', 'This needs a password; open its page and enter the password first')
}

function tooManyClosed(): Refusal {
  return new Refusal(
    'INVALID_REQUEST',
    `These lie in more than ${MOST_CLOSED} private or locked folders; choose fewer of them`,
  )
}
