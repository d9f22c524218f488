import {
  type AccountId,
  type FileId,
  type FolderId,
  type FolderIdentifier,
  GUESTS,
  type KeyId,
  type LinkId,
  type LinkProgram,
  type LinkVisitor,
  type SessionId,
} from './ids.ts'
import type { Reach } from './reach.ts'

export type Evidence =
  | { readonly kind: 'key'; readonly key: KeyId }
  | { readonly kind: 'session'; readonly session: SessionId }

export interface Requester {
  /** Null: not signed in. */
  readonly reach: (Reach & { readonly by: Evidence }) | null
  /** Unlocked folders with the tag of the password used. */
  readonly grants: ReadonlyMap<FolderId, string>
  readonly signed?: (SignedRights & { readonly by: Evidence }) | null
  readonly link?: LinkRights | null
}

/** Opens the link's targets and what is below them, however their folders are closed, and nothing else. */
export interface LinkRights {
  readonly id: LinkId
  readonly account: AccountId
  readonly files: ReadonlySet<FileId>
  readonly folders: ReadonlySet<FolderId>
  /** Changes with the password; null without one. */
  readonly passwordTag: string | null
  readonly isLimited: boolean
  /** Null for the link's owner, whose downloads do not count. */
  readonly visitor: LinkDownloader | null
}

export interface LinkDownloader {
  readonly visitor: LinkVisitor
  /** Null where a cookie identifies the visitor. */
  readonly program: LinkProgram | null
  /** Identified by the program alone: others of that address and name look alike. */
  readonly isAssumed: boolean
}

/**
 * Rights signed into an address by an owner. They bypass closed folders (private, or with a password) as closed at
 * signing. Folders closed later stay closed, so an address signed for something public bypasses nothing.
 */
export interface SignedRights extends Reach {
  /** Closed ancestors, each with its closing number. */
  readonly closed: ReadonlyMap<FolderId, number>
  /** The account's closing counter at signing: descendants closed by then are bypassed. Null: no descendants. */
  readonly closings: number | null
}

/** A caller in relation to one resource and its descendants. */
export interface Viewer {
  readonly account: AccountId | null
  readonly grants: ReadonlyMap<FolderId, string>
  readonly signed?: SignedRights | null
  readonly link?: LinkRights | null
}

/** A caller restricted to one folder is anonymous outside of it. */
export function viewerOf(
  { reach, grants, signed = null, link = null }: Requester,
  chain: readonly { readonly identifier: FolderIdentifier }[],
): Viewer {
  const isInside = ({ within }: Reach) =>
    within === null || chain.some((folder) => folder.identifier === within)
  return {
    account: reach !== null && isInside(reach) ? reach.account : null,
    grants,
    signed: signed !== null && isInside(signed) ? signed : null,
    link,
  }
}

/** Views for the owner are not counted. */
export function isOwnerView({ account, signed = null }: Viewer, owner: AccountId): boolean {
  return account === owner || signed?.account === owner
}

export interface ChainFolder {
  readonly id: FolderId
  readonly isPublic: boolean
  readonly passwordTag: string | null
  readonly closing: number
}

export type AccessDecision =
  | { readonly kind: 'open' }
  /** Answered as if missing. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'locked'; readonly folder: FolderId }

/**
 * The only rule for who sees a folder or file. `chain` runs from the outermost folder to the requested one, or to the
 * file's; empty for a file at the top level.
 *
 * The owner sees everything; guests' uploads have no owner. For others one private folder in the chain hides it; only
 * without one do passwords count: the outermost folder whose current password was not given locks it. A signed address
 * bypasses folders not closed again since signing. Through a made link, also for its owner, only the link decides.
 * `file`: null for a folder.
 */
export function decideAccess(
  viewer: Viewer,
  owner: AccountId,
  chain: readonly ChainFolder[],
  file: FileId | null = null,
): AccessDecision {
  const { signed = null, link = null } = viewer
  if (link !== null) return { kind: isTargetOf(link, owner, chain, file) ? 'open' : 'hidden' }
  return decide(viewer, owner, chain, ({ id, closing }) => signed?.closed.get(id) === closing)
}

export function decideBelow(viewer: Viewer, owner: AccountId, folder: ChainFolder): AccessDecision {
  const { link = null } = viewer
  if (link !== null) return { kind: link.account === owner ? 'open' : 'hidden' }
  const closings = viewer.signed?.closings ?? null
  return decide(viewer, owner, [folder], ({ closing }) => closings !== null && closing <= closings)
}

function isTargetOf(
  { account, files, folders }: LinkRights,
  owner: AccountId,
  chain: readonly ChainFolder[],
  file: FileId | null,
): boolean {
  if (account !== owner) return false
  return (file !== null && files.has(file)) || chain.some(({ id }) => folders.has(id))
}

function decide(
  viewer: Viewer,
  owner: AccountId,
  chain: readonly ChainFolder[],
  wasClosed: (folder: ChainFolder) => boolean,
): AccessDecision {
  if (viewer.account === owner && owner !== GUESTS) return { kind: 'open' }
  const isSigned = viewer.signed?.account === owner && owner !== GUESTS
  const left = chain.filter((folder) => isClosedTo(viewer, folder) && !(isSigned && wasClosed(folder)))
  if (left.some((folder) => !folder.isPublic)) return { kind: 'hidden' }
  const [locked] = left
  return locked === undefined ? { kind: 'open' } : { kind: 'locked', folder: locked.id }
}

/** To anyone but the owner, given the unlocked folders. */
export function isClosedTo({ grants }: Pick<Viewer, 'grants'>, folder: ChainFolder): boolean {
  return !folder.isPublic || (folder.passwordTag !== null && grants.get(folder.id) !== folder.passwordTag)
}
