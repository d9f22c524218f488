import * as z from 'zod'
import { keyHolderNow } from '../accounts/api-keys.rows.ts'
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
import { type FileDetailRow, fileNotFound, findPlacedFile } from '../files/files.ts'
import {
  type ChainRow,
  type FolderListRow,
  folderChain,
  folderOrBelowDeleted,
} from '../files/folders/folders.rows.ts'
import { folderNotFound } from '../files/folders/places.ts'
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

export type AccessControl = ReturnType<typeof createAccess>

export function createAccess(db: Database, signing: Signing, clock: Clock) {
  /** Changes with the password and does not reveal it. */
  const tag: PasswordTag = (folder, hash) => signing.tag('folder-password', `${folder}\n${hash}`)

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
    /** Throws Refusal FILE_NOT_FOUND when the file would be invisible. */
    arriving,

    /** Throws Refusal FILE_NOT_FOUND, also for an invisible file, or FILE_ARRIVING. */
    async file(
      asking: Requester | Promise<Requester>,
      identifier: FileIdentifier,
    ): Promise<AccessResult<FileDetailRow>> {
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

    /** Throws Refusal FOLDER_NOT_FOUND, also for an invisible folder. */
    async folder(
      asking: Requester | Promise<Requester>,
      name: FolderIdentifier | FolderId,
    ): Promise<AccessResult<FolderListRow>> {
      const [requester, folder] = await Promise.all([asking, folderOrBelowDeleted(db, name)])
      if (folder === undefined) throw folderNotFound()
      const chain = await folderChain(db, folder.id)
      return decide(requester, folder, folder.account_id, { chain }, folderNotFound)
    },

    /**
     * Re-validates a signed address, which is void once its key or session was revoked or has expired, or its
     * account was disabled or deleted. A key or session that authenticated `caller` is not looked up again.
     */
    async signed(requester: Requester, caller: Caller | null): Promise<Requester> {
      const { signed = null } = requester
      if (signed === null) return requester
      const { account, by } = signed
      const holder =
        caller?.kind === 'account' && isSame(caller.by, by)
          ? caller.account
          : await holderNow(db, by, clock.now())
      return holder === account ? requester : { ...requester, signed: null }
    },

    /** On the owner's behalf. Throws Refusal INVALID_REQUEST when an address cannot hold the rights. */
    async rightsTo(
      account: AccountId,
      folders: ReadonlySet<FolderId>,
    ): Promise<Pick<SignedRights, 'closed' | 'closings'>> {
      // Read before the chains, so that a folder closed meanwhile stays closed.
      const closings = (await findAccount(db, account))?.closings ?? 0
      const closed = new Map<FolderId, number>()
      for (const folder of folders) {
        const chain = (await folderChain(db, folder)).map(asChainFolder)
        for (const [id, closing] of closedIn(chain, new Map())) closed.set(id, closing)
        if (closed.size > MOST_CLOSED) throw tooManyClosed()
      }
      return { closed, closings }
    },

    /** Assumes that the viewer may see the parent folder. */
    opens: (viewer: Viewer, folder: Barrier): boolean =>
      decideBelow(viewer, folder.account_id, asChainFolder(folder)).kind === 'open',

    passwordTag: tag,
  }
}

type PasswordTag = (folder: FolderId, passwordHash: string) => string

function chainFolder(
  { id, is_public, password_hash, closing }: Omit<Barrier, 'account_id'>,
  tag: PasswordTag,
): ChainFolder {
  const passwordTag = password_hash === null ? null : tag(id, password_hash)
  return { id, isPublic: is_public === 1, passwordTag, closing }
}

function closedIn(chain: readonly ChainFolder[], grants: Viewer['grants']): SignedRights['closed'] {
  return new Map(chain.filter((step) => isClosedTo({ grants }, step)).map(({ id, closing }) => [id, closing]))
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

export const WAYS_COOKIE = 'folder_ways'

/** The highest folder of each tree, and of those the newest. */
const MOST_FOLDERS = 20

const PURPOSE = 'folder-ways'
const payload = z.array(z.number())

/**
 * Ancestors that pages may name. A visitor with the address of one file must not be led to its surroundings;
 * a visitor who came from a folder finds the way back. Access is decided independently, at every request.
 */
export function createWaysUp(db: Database, signing: Signing) {
  function read(cookie: string | null): FolderId[] {
    if (cookie === null) return []
    const found = payload.safeParse(signing.verify(PURPOSE, cookie))
    return found.success ? found.data.map((id) => id as FolderId) : []
  }

  return {
    /** From the highest folder in the cookie, outermost first. */
    shown(cookie: string | null, chain: readonly ChainRow[]): readonly ChainRow[] {
      const known = new Set(read(cookie))
      const highest = chain.findIndex(({ id }) => known.has(id))
      return highest === -1 ? [] : chain.slice(highest)
    },

    /** Null where it stays unchanged. */
    async cookieAfter(cookie: string | null, chain: readonly ChainRow[]): Promise<string | null> {
      const folder = chain.at(-1)
      if (folder === undefined) return null
      const known = read(cookie)
      const highest = chain.find(({ id }) => known.includes(id))
      if (highest !== undefined && known.at(-1) === highest.id) return null
      const others = known.filter((id) => id !== highest?.id)
      const kept = highest === undefined ? await notBelow(db, others, folder.id) : others
      return signing.sign(PURPOSE, [...kept, (highest ?? folder).id].slice(-MOST_FOLDERS))
    },
  }
}

async function notBelow(db: Database, folders: readonly FolderId[], top: FolderId): Promise<FolderId[]> {
  const chains = await Promise.all(folders.map((folder) => folderChain(db, folder)))
  return folders.filter((_, at) => chains[at]?.every(({ id }) => id !== top) ?? false)
}
