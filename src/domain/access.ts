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

/** The key or session that proves whose account it is. */
export type Evidence =
  | { readonly kind: 'key'; readonly key: KeyId }
  | { readonly kind: 'session'; readonly session: SessionId }

/** A caller, before the resource is known. */
export interface Requester {
  /** null: not signed in. */
  readonly reach: (Reach & { readonly by: Evidence }) | null
  /** Folders unlocked before, each with the tag of the password that was used. */
  readonly grants: ReadonlyMap<FolderId, string>
  /** Rights in the signed address of the request; null or missing when it has none. */
  readonly signed?: (SignedRights & { readonly by: Evidence }) | null
  /** The made link by which the caller comes; null or missing for none. */
  readonly link?: LinkRights | null
}

/**
 * What a made link opens. Who comes by it sees its targets and what is below them, whatever closes their folders,
 * and nothing else.
 */
export interface LinkRights {
  readonly id: LinkId
  readonly account: AccountId
  readonly files: ReadonlySet<FileId>
  readonly folders: ReadonlySet<FolderId>
  /** Changes with every change of the link's password; null means there is none. */
  readonly passwordTag: string | null
  /** Whether its downloads are limited in number. */
  readonly isLimited: boolean
  /** Whose downloads are counted; null for the link's owner, whose are not. */
  readonly visitor: LinkDownloader | null
}

/** A visitor of a link, as far as that can be told. */
export interface LinkDownloader {
  readonly visitor: LinkVisitor
  /** null where a cookie tells the visitor. */
  readonly program: LinkProgram | null
  /** Whether the program alone tells the visitor, who may as well be somebody else of its address and name. */
  readonly isAssumed: boolean
}

/**
 * Rights that an owner signs into an address. They bypass closed folders (private, or with a password) that
 * were closed exactly as at the time of signing. Folders closed since then stay closed, so an address signed
 * for something public bypasses nothing.
 */
export interface SignedRights extends Reach {
  /** Closed ancestors of what was signed, each with its closing number. */
  readonly closed: ReadonlyMap<FolderId, number>
  /**
   * The account's closing counter at the time of signing: descendants closed by then are bypassed. null:
   * nothing is below.
   */
  readonly closings: number | null
}

/** A caller in relation to one resource: valid for that and its descendants only. */
export interface Viewer {
  /** null: anonymous. */
  readonly account: AccountId | null
  /** Folders unlocked before, each with the tag of the password that was used. */
  readonly grants: ReadonlyMap<FolderId, string>
  readonly signed?: SignedRights | null
  readonly link?: LinkRights | null
}

/**
 * The requester in relation to what this chain of folders contains. A caller restricted to one folder is
 * anonymous outside of it.
 */
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

/** Whether the viewer acts for the owner: such views are not counted. */
export function isOwnerView({ account, signed = null }: Viewer, owner: AccountId): boolean {
  return account === owner || signed?.account === owner
}

/** One folder on the path to the requested resource. */
export interface ChainFolder {
  readonly id: FolderId
  readonly isPublic: boolean
  /** Changes with every change of the password; null means there is none. */
  readonly passwordTag: string | null
  /** Number of its last closing. */
  readonly closing: number
}

export type AccessDecision =
  | { readonly kind: 'open' }
  /** Must be answered as if it did not exist. */
  | { readonly kind: 'hidden' }
  /** The password of `folder` must be given next. */
  | { readonly kind: 'locked'; readonly folder: FolderId }

/**
 * The only rule for who may see a folder or a file. `chain` runs from the outermost folder to the one
 * requested, or to the file's folder; it is empty for a file at the top level.
 *
 * The owner sees everything; uploads of guests have no owner. For everybody else one private folder in the
 * chain hides it, and only then do passwords count: the outermost folder whose current password was not given
 * locks it. A signed address bypasses folders that have not been closed again since it was signed. For everybody who
 * comes by a made link, the owner included, only that link decides. `file`: null for a folder.
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

/** `decideAccess` for one folder directly below something that the viewer may see. */
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

/**
 * Whether the folder keeps out a viewer who is not its owner, given the folders that the viewer has unlocked.
 */
export function isClosedTo({ grants }: Pick<Viewer, 'grants'>, folder: ChainFolder): boolean {
  return !folder.isPublic || (folder.passwordTag !== null && grants.get(folder.id) !== folder.passwordTag)
}
