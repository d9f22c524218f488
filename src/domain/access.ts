import {
  type AccountId,
  type FolderId,
  type FolderIdentifier,
  GUESTS,
  type KeyId,
  type SessionId,
} from './ids.ts'
import type { Reach } from './reach.ts'

/** What shows whose account it is: a key or a session, which may end. */
export type Evidence =
  | { readonly kind: 'key'; readonly key: KeyId }
  | { readonly kind: 'session'; readonly session: SessionId }

/** Who asks, before it is known for what. */
export interface Asker {
  /** null: nobody is signed in. */
  readonly reach: (Reach & { readonly by: Evidence }) | null
  /** Folders unlocked before, each with the tag of the password that did it. */
  readonly grants: ReadonlyMap<FolderId, string>
}

/** Who an asker is to something: to be used for that, and for all below it, and for nothing else. */
export interface Viewer {
  /** null: nobody in particular. */
  readonly account: AccountId | null
  /** Folders unlocked before, each with the tag of the password that did it. */
  readonly grants: ReadonlyMap<FolderId, string>
}

/**
 * The asker, to what these folders lead to. Somebody who is kept to one folder is nobody in particular to what is
 * outside of it.
 */
export function viewerOf(
  { reach, grants }: Asker,
  chain: readonly { readonly identifier: FolderIdentifier }[],
): Viewer {
  if (reach === null) return { account: null, grants }
  const { account, within } = reach
  const isInside = within === null || chain.some((folder) => folder.identifier === within)
  return { account: isInside ? account : null, grants }
}

/** One folder on the way to what is asked for. */
export interface ChainFolder {
  readonly id: FolderId
  readonly isPublic: boolean
  /** Changes with every change of the password; null means there is none. */
  readonly passwordTag: string | null
}

export type Access =
  | { readonly kind: 'open' }
  /** To be answered as if it did not exist. */
  | { readonly kind: 'hidden' }
  /** The password of `folder` has to be given next. */
  | { readonly kind: 'locked'; readonly folder: FolderId }

/**
 * The one rule for who may see a folder or a file. `chain` runs from the outermost folder to the one asked for, or to
 * the one the file is in; it is empty for a file at the top level.
 *
 * The owner sees everything; what guests uploaded has no owner. For everybody else one private folder on the way hides
 * it, and only then do passwords count: the outermost folder whose present password was not given locks it.
 */
export function decideAccess(viewer: Viewer, owner: AccountId, chain: readonly ChainFolder[]): Access {
  if (viewer.account === owner && owner !== GUESTS) return { kind: 'open' }
  if (chain.some((folder) => !folder.isPublic)) return { kind: 'hidden' }
  const locked = chain.find(
    (folder) => folder.passwordTag !== null && viewer.grants.get(folder.id) !== folder.passwordTag,
  )
  return locked === undefined ? { kind: 'open' } : { kind: 'locked', folder: locked.id }
}
