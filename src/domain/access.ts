import { Refusal } from './errors.ts'
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

export const SCOPES = ['read', 'upload', 'manage'] as const

export type Scope = (typeof SCOPES)[number]

/** Separated by spaces; canonical order, unknown words ignored. */
export function parseScopes(text: string): readonly Scope[] {
  const words = text.split(' ')
  return SCOPES.filter((scope) => words.includes(scope))
}

export function formatScopes(scopes: readonly Scope[]): string {
  return SCOPES.filter((scope) => scopes.includes(scope)).join(' ')
}

/** An account, or one folder of it with its descendants. */
export interface Reach {
  readonly account: AccountId
  /** Null: the whole account. Nothing is reachable once the folder is deleted. */
  readonly within: FolderIdentifier | null
}

export interface Actor extends Reach {
  readonly scopes: readonly Scope[]
}

export const GUEST_REACH: Actor = { account: GUESTS, within: null, scopes: SCOPES }

/** Exposing needs the scope `read` besides `manage`: a key that arranges files could else publish and read them. */

export interface Exposure {
  readonly isPublic: boolean
  readonly locked: ReadonlySet<FolderId>
  readonly links: ReadonlySet<LinkId>
}

/** `endsAt`: milliseconds since the epoch. Null: unlimited. */
export interface LinkLimits {
  readonly endsAt: number | null
  readonly maxDownloads: number | null
  readonly hasPassword: boolean
}

/** Undefined keeps the password, null removes it. */
type NewPassword = string | null | undefined

export function exposesMore(from: Exposure, to: Exposure): boolean {
  return (
    (to.isPublic && !from.isPublic) ||
    [...from.locked].some((folder) => !to.locked.has(folder)) ||
    [...to.links].some((link) => !from.links.has(link))
  )
}

export function opensFolder(
  before: { readonly isPublic: boolean; readonly hasPassword: boolean },
  change: { readonly isPublic?: boolean | undefined; readonly password?: NewPassword },
): boolean {
  return (change.isPublic === true && !before.isPublic) || replacesPassword(before, change.password)
}

export function opensLink(
  before: LinkLimits,
  change: {
    readonly endsAt?: number | null | undefined
    readonly maxDownloads?: number | null | undefined
    readonly password?: NewPassword
  },
): boolean {
  return (
    isRaised(before.endsAt, change.endsAt) ||
    isRaised(before.maxDownloads, change.maxDownloads) ||
    replacesPassword(before, change.password)
  )
}

/** The one who replaces a password knows the new one. */
function replacesPassword(
  { hasPassword }: { readonly hasPassword: boolean },
  password: NewPassword,
): boolean {
  return hasPassword && password !== undefined
}

function isRaised(before: number | null, after: number | null | undefined): boolean {
  return before !== null && after !== undefined && (after === null || after > before)
}

export function mayWiden({ scopes }: Pick<Actor, 'scopes'>): boolean {
  return scopes.includes('read')
}

/** Throws Refusal SCOPE_MISSING. */
export function assertMayWiden(actor: Pick<Actor, 'scopes'>): void {
  if (mayWiden(actor)) return
  throw new Refusal(
    'SCOPE_MISSING',
    'This lets more people see it, for which this API key lacks the scope "read"; use a key that has "manage" and "read"',
  )
}

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
