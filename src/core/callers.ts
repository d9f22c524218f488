import { type Reach, SCOPES, type Scope } from '../domain/access.ts'
import { Refusal } from '../domain/errors.ts'
import {
  type AccountId,
  type BlobKey,
  type BlobProgress,
  type FileId,
  type FolderIdentifier,
  GUESTS,
  type KeyId,
  type LinkId,
  type SessionId,
} from '../domain/ids.ts'

export interface AccountCaller extends Reach {
  readonly kind: 'account'
  readonly username: string
  readonly by: Credential
  readonly scopes: readonly Scope[]
  /** Of the key. A key made from a session may outlive the session. */
  readonly expiresAt: number | null
}

export type Credential =
  | { readonly kind: 'key'; readonly key: KeyId }
  | {
      readonly kind: 'session'
      readonly session: SessionId
      readonly isAdmin: boolean
      /** Time of the last sign-in or re-authentication. */
      readonly provedAt: number
      /** Empty when unknown. */
      readonly address: string
    }

export interface SessionCaller extends AccountCaller {
  readonly by: Extract<Credential, { kind: 'session' }>
}

/** `bucket`: the client address as rate limits count it. */
export interface GuestCaller {
  readonly kind: 'guest'
  readonly bucket: string
  /** Folder of the transfer whose receipt the guest has sent. */
  readonly within?: FolderIdentifier
}

/** A sender through an upload link; the link's owner owns what is stored. */
export interface ContributorCaller extends Reach {
  readonly kind: 'contributor'
  readonly bucket: string
  readonly link: LinkId
}

export type Caller = AccountCaller | GuestCaller

export type Sender = Caller | ContributorCaller

export function ownerOf(caller: Sender): AccountId {
  return caller.kind === 'guest' ? GUESTS : caller.account
}

/** Throws Refusal SCOPE_MISSING. */
export function assertScope(caller: AccountCaller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return
  throw new Refusal('SCOPE_MISSING', `This API key lacks the scope "${scope}"; use a key that has it`)
}

export function mayRead({ scopes }: Pick<AccountCaller, 'scopes'>): boolean {
  return scopes.includes('read')
}

/** Whether scopes or folder exclude some of the account's content or actions. */
export function isRestricted({ scopes, within }: AccountCaller): boolean {
  return within !== null || SCOPES.some((scope) => !scopes.includes(scope))
}

export function reachOf(caller: Sender): Reach {
  return caller.kind === 'guest' ? { account: GUESTS, within: caller.within ?? null } : caller
}

/** A blob with all bytes of an arriving file, or those of one partial upload. */
export interface ArrivedPiece {
  readonly key: BlobKey
  readonly start: number
  readonly received: number
  /** Resume state of the store; null without bytes and for a complete blob. */
  readonly progress: BlobProgress | null
}

/** `there`: the upload has become a file. `gone`: it never will. */
export type Arrival =
  | {
      readonly kind: 'arriving'
      /** Null while unknown; there is one piece at most then. */
      readonly size: number | null
      readonly pieces: readonly ArrivedPiece[]
    }
  | { readonly kind: 'there'; readonly file: FileId; readonly key: BlobKey; readonly size: number }
  | { readonly kind: 'gone' }
