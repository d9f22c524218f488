import type { Generated, Kysely } from 'kysely'
import type { Act } from '../domain/audit.ts'
import type { ChangeKind } from '../domain/change.ts'
import type {
  AccountId,
  AuditId,
  BinEntryId,
  BlobId,
  BlobKey,
  BlobProgress,
  ChangeId,
  FileId,
  FileWarningId,
  FolderId,
  FolderIdentifier,
  FolderPlace,
  KeyId,
  MailId,
  NodeId,
  PasskeyId,
  ReportId,
  ResetRequestId,
  SessionId,
  Sha256,
  Slug,
  UploadId,
  Uuid,
} from '../domain/ids.ts'
import type { Language } from '../domain/language.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import type { ReportReason, ReportState } from '../domain/report.ts'

/** The tables as they are. Times are milliseconds since the epoch, sizes are bytes, flags are 0 or 1. */
export interface Tables {
  meta: { key: string; value: string }
  accounts: AccountsTable
  api_keys: ApiKeysTable
  folders: FoldersTable
  files: FilesTable
  blobs: BlobsTable
  blob_garbage: { key: BlobKey; due_at: number }
  thumbnails: ThumbnailsTable
  nodes: NodesTable
  jobs: JobsTable
  reservations: ReservationsTable
  uploads: UploadsTable
  idempotency_keys: IdempotencyKeysTable
  reports: ReportsTable
  sessions: SessionsTable
  identities: IdentitiesTable
  verifications: VerificationsTable
  passkeys: PasskeysTable
  two_factors: TwoFactorsTable
  one_time_links: OneTimeLinksTable
  bin: BinTable
  changes: ChangesTable
  mail_addresses: MailAddressesTable
  mails: MailsTable
  reset_requests: ResetRequestsTable
  file_warnings: FileWarningsTable
  rate_windows: { subject: string; opened_at: number; ends_at: number; used: number }
  days: DaysTable
  outages: OutagesTable
  refused_contents: RefusedContentsTable
  audit_log: AuditLogTable
  request_days: { account_id: AccountId; day: string; requests: number }
  /** The search index: `rowid` is the file's id. Kept by triggers on `files`. */
  file_names: { rowid: FileId; name_folded: string }
}

interface AccountsTable {
  id: Generated<AccountId>
  username: string
  created_at: number
  disabled_at: number | null
  storage_used: Generated<number>
  /** What uploads under way may still use: all that their rows in `reservations` and `uploads` set aside. */
  storage_reserved: Generated<number>
  files_count: Generated<number>
  folders_count: Generated<number>
  is_admin: Generated<0 | 1>
  /** Whether signing in with the password takes a code besides. */
  two_factor: Generated<0 | 1>
  /** When its owner deleted it. The row goes when nothing of the account is left. */
  removed_at: number | null
  /** What is in the bin, part of `storage_used`, and how many entries it has. Those that are coming back are not in it. */
  bin_bytes: Generated<number>
  bin_entries: Generated<number>
  /** Entries up to this one are to be deleted for good, but for those that are coming back. */
  bin_emptied: BinEntryId | null
  /** What its files may take together; null: as much as the setting says. */
  quota: number | null
}

interface ApiKeysTable {
  id: Generated<KeyId>
  account_id: AccountId
  name: string
  /** The first characters of the key, to tell which it is. */
  prefix: string
  hash: Sha256
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  /** With spaces between them. Left out, all there are. */
  scopes: Generated<string>
  /** The one folder it is good for, with all below it, whether that is still there or not. Null: all of the account. */
  folder: FolderIdentifier | null
  expires_at: number | null
}

interface FoldersTable {
  id: Generated<FolderId>
  identifier: FolderIdentifier
  account_id: AccountId
  /** Null for the account's top level alone, which is a row so that siblings there are unique too. */
  parent_id: FolderId | null
  name: string
  is_public: 0 | 1
  password_hash: string | null
  /** Live files directly in the folder. */
  file_count: Generated<number>
  /** Live files in the folder and in everything below it, what they weigh, and how many folders are below it. */
  tree_files: Generated<number>
  tree_bytes: Generated<number>
  tree_folders: Generated<number>
  /** How many levels are below it at most: what is taken away does not lower it. */
  tree_height: Generated<number>
  created_at: number
  /** What is below a deleted folder is deleted with it, and marked so in steps behind that. */
  deleted_at: number | null
  /** When nothing alive was left in a deleted folder. */
  cleared_at: number | null
  /** Of a deleted folder that may come back: the entry of the bin that it, or a folder above it, is in the bin by. */
  bin_id: BinEntryId | null
}

/**
 * `expired` can be taken back, `deleted` cannot. `binned`: by an entry of its own. `folder binned`: with a folder that it
 * is in, at any depth.
 */
export type Removal = 'expired' | 'deleted' | 'binned' | 'folder binned'

interface FilesTable {
  id: Generated<FileId>
  uuid: Uuid
  slug: Slug
  account_id: AccountId
  folder_id: FolderId
  blob_id: BlobId
  name: string
  name_folded: string
  size: number
  type: string
  created_at: number
  /** When somebody last looked at it; the upload counts as the first look. */
  last_used_at: number
  views: Generated<number>
  downloads: Generated<number>
  /** Null while the file is alive. What is removed is in no list, count or total. */
  removed_at: number | null
  /** Why it was removed. */
  removal: Removal | null
}

/** The nodes that share this database. One that stops beating is taken for dead, and its row removed. */
interface NodesTable {
  id: NodeId
  /** Counts up for as long as the node lives. */
  beats: Generated<number>
  started_at: number
}

interface JobsTable {
  name: string
  /** The node that runs it at the moment. */
  node: NodeId | null
  /** When it was through last. */
  ended_at: number | null
  /** Failures in a row. */
  failures: Generated<number>
  /** What went wrong the last time, and when; null once it has gone well again. */
  failure: string | null
  failed_at: number | null
}

interface ReservationsTable {
  key: BlobKey
  account_id: AccountId
  bytes: number
  created_at: number
  /** The node that takes the upload in; when it is dead, so is the upload. */
  node: NodeId | null
}

/** `whole` becomes a file; so does a `final` one, which is made of `partial` ones. */
export type UploadKind = 'whole' | 'partial' | 'final'

/**
 * `uploading`: bytes are wanting. `processing`: all are here and safe. `completed`: there is a file, or a part that may
 * be joined. `failed`: it will never be one.
 */
export type UploadState = 'uploading' | 'processing' | 'completed' | 'failed'

/** Resumable uploads, for a while also those that have ended. */
interface UploadsTable {
  id: Generated<UploadId>
  /** Of the secret part of its address, which is kept nowhere. */
  token_hash: Sha256
  /** Slug and UUID of the file that it becomes. */
  slug: Slug
  uuid: Uuid
  account_id: AccountId
  folder_id: FolderId
  name: string
  declared_type: string | null
  /** Upload-Metadata as it was sent. */
  metadata: string
  kind: UploadKind
  /** Upload-Concat as it was sent. */
  concat: string | null
  /** Of a partial one that is used up: the final one that it is a part of, and which part it is. */
  joined_into: UploadId | null
  part: number | null
  /** Null as long as nobody knows it. */
  size: number | null
  /** Bytes that are safe, and by what the store goes on there. Both change together. */
  received: Generated<number>
  progress: BlobProgress | null
  key: BlobKey
  /** Room set aside, part of the account's `storage_reserved`. */
  reserved: Generated<number>
  state: UploadState
  failure: string | null
  created_at: number
  /** When bytes last came. */
  used_at: number
  /** When it let go of its room, and of its bytes or to its file. */
  ended_at: number | null
  /** Counts those who have written to it: what an earlier one still tries to record is not taken. */
  sitting: Generated<number>
  /** Where the present one is. Null: nobody writes. */
  node: NodeId | null
  /** The sitting that somebody else waits for to end. */
  asked: number | null
  /** A tag of the address that a guest's began from. */
  address: string | null
  file_id: FileId | null
}

interface IdempotencyKeysTable {
  /** `account:<id>`, `key:<id>` for an API key that is not good for everything, or `guest`. */
  caller: string
  hash: Sha256
  created_at: number
  /** Where the first request is under way. */
  node: NodeId | null
  /** What it led to, as JSON. Null: not through yet. */
  result: string | null
}

/** What people have against files. The file is told as it was: it may be gone by the time somebody reads the report. */
interface ReportsTable {
  id: Generated<ReportId>
  file_id: FileId
  slug: Slug
  name: string
  sha256: Sha256
  reason: ReportReason
  text: string | null
  created_at: number
  /** Tells a repeat by the same address on the same day, without the address. Null once that day is over. */
  reporter: string | null
  state: Generated<ReportState>
  closed_at: number | null
}

/** What happened on the whole server, a row for each day in UTC. */
interface DaysTable {
  day: string
  requests: Generated<number>
  /** Of bodies. */
  bytes_in: Generated<number>
  bytes_out: Generated<number>
  uploads: Generated<number>
  downloads: Generated<number>
  /** Looked at several times a day: these are the last. Null for a day on which nobody has looked. */
  accounts: number | null
  files: number | null
  storage_used: number | null
}

/** Contents that were taken down and are not taken in again. */
interface RefusedContentsTable {
  sha256: Sha256
  refused_at: number
  /** How many files went. */
  files: Generated<number>
  /** Whether all of them are gone; else somebody has to go on. */
  cleared: Generated<0 | 1>
}

/** What administrators did. The database itself refuses to change or to remove a row. */
interface AuditLogTable {
  id: Generated<AuditId>
  at: number
  /** Null: somebody at the command line. It points to no row, which may be gone by now. */
  account_id: AccountId | null
  username: string | null
  address: string | null
  act: Act
  object: string | null
  /** JSON. */
  details: string
}

/** Browsers that are signed in. */
interface SessionsTable {
  id: Generated<SessionId>
  account_id: AccountId
  /** Of what the cookie holds, which is kept nowhere. */
  token_hash: Sha256
  user_agent: string | null
  created_at: number
  /** When it was last used, to the hour. */
  updated_at: number
  expires_at: number
  /** When its person has last shown who they are, after signing in; null: not since. */
  proved_at: number | null
}

/** What proves who somebody is: a password, or what another server calls them. */
interface IdentitiesTable {
  id: Generated<number>
  account_id: AccountId
  provider: IdentityProvider
  /** The account's own id for a password, the other server's subject for OpenID Connect. */
  subject: string
  password_hash: string | null
  created_at: number
  updated_at: number
}

export type IdentityProvider = 'credential' | 'oidc'

/** What better-auth keeps between two steps of a ceremony. */
interface VerificationsTable {
  id: Generated<number>
  identifier_hash: Sha256
  value: string
  created_at: number
  updated_at: number
  expires_at: number
}

interface PasskeysTable {
  id: Generated<PasskeyId>
  account_id: AccountId
  name: string | null
  credential_id: string
  public_key: string
  counter: number
  device_type: string
  backed_up: 0 | 1
  transports: string | null
  aaguid: string | null
  created_at: number
}

interface TwoFactorsTable {
  id: Generated<number>
  account_id: AccountId
  /** Encrypted, like the recovery codes. */
  secret: string
  recovery_codes: string
  /** Whether a code has shown that the person has the secret. */
  verified: 0 | 1
  /** Wrong codes in a row. */
  failures: Generated<number>
  locked_until: number | null
  /** The half minute (RFC 6238) of the last code that was taken; null: none was. */
  last_step: number | null
}

/**
 * `welcome` makes the first administrator, `invitation` an account, `password` sets the password of one that is there,
 * and `mail` shows that the address is its owner's.
 */
export type LinkPurpose = 'welcome' | 'invitation' | 'password' | 'mail'

interface OneTimeLinksTable {
  token_hash: Sha256
  purpose: LinkPurpose
  /** Whose password it sets, whose address it verifies, or who has invited. */
  account_id: AccountId | null
  created_at: number
  expires_at: number
}

/** What is in the bin: a file or a folder, which are marked so themselves. */
interface BinTable {
  id: Generated<BinEntryId>
  account_id: AccountId
  file_id: FileId | null
  folder_id: FolderId | null
  /** What came into the bin with it. */
  bytes: number
  files: number
  binned_at: number
  /** Whether it is coming back, from which there is no return. */
  restoring: Generated<0 | 1>
}

/** What changed in accounts lately. Things are named as callers name them: rows may be gone by the time it is told. */
interface ChangesTable {
  id: Generated<ChangeId>
  account_id: AccountId
  kind: ChangeKind
  file_id: FileId | null
  folder: FolderIdentifier | null
  /** The folder that the file or folder is in, or was in until now. */
  place: FolderPlace | null
  /** Of what was moved: where it was before. */
  from_place: FolderPlace | null
}

/** Where accounts get their mail, of those that want any. */
interface MailAddressesTable {
  account_id: AccountId
  /** Once its owner has shown that it is theirs. */
  address: MailAddress | null
  address_folded: string | null
  /** What nobody has shown yet, and what takes the place of the other then. */
  pending: MailAddress | null
  language: Language
  /** Whether the owner is told of files that go. */
  warnings: Generated<0 | 1>
  /** When they last were, and of files last used until when. */
  warned_at: number | null
  warned_until: number | null
}

/** Mails that are not sent yet. The row goes as soon as one is. */
interface MailsTable {
  id: Generated<MailId>
  message_id: string
  account_id: AccountId
  recipient: MailAddress
  language: Language
  /** A `Letter` as JSON. */
  letter: string
  created_at: number
  /** When it would be of no use any more. */
  ends_at: number
  /** When it is to be tried next. While somebody tries: when somebody else may. */
  due_at: number
  /** How often the server did not take it. */
  tries: Generated<number>
}

/** People who have forgotten their password, by the name or address that they gave: whether it is anybody's or not. */
interface ResetRequestsTable {
  id: Generated<ResetRequestId>
  asked: string
  created_at: number
}

/** Files that an account was told of: those last used after the one moment and until the other. */
interface FileWarningsTable {
  id: Generated<FileWarningId>
  /** Of the link that keeps them. */
  token_hash: Sha256
  account_id: AccountId
  used_after: number
  used_until: number
  warned_at: number
  /** When somebody used the link. Null once all files are kept by that, as before. */
  kept_at: number | null
}

interface BlobsTable {
  id: Generated<BlobId>
  key: BlobKey
  sha256: Sha256
  crc32: number
  size: number
  /** Rows in `files` that use it, removed ones included. */
  refs: number
  created_at: number
}

/**
 * `wanted`: to be made, or being made. `made`: there it is. `none`: nothing can be made of the content. `unsupported`:
 * not by the node that tried. `failed`: set aside after too many failures.
 */
export type ThumbnailState = 'wanted' | 'made' | 'none' | 'unsupported' | 'failed'

/** Of contents that somebody has looked at for that. They go with their blob. */
interface ThumbnailsTable {
  blob_id: BlobId
  state: ThumbnailState
  /** Where the small picture is and, right after it, the large one and the one for screens; null unless made. */
  key: BlobKey | null
  /** Their bytes. A large one of none is the small one; one for screens of none is the content itself. */
  small: Generated<number>
  large: Generated<number>
  screen: Generated<number>
  /** Where it is being made. Null: nobody is at it. */
  node: NodeId | null
  /** How often somebody has begun to make it, without what was not its own fault. */
  tries: Generated<number>
  /** When it is to be made, as long as it is wanted. */
  due_at: number
}

/**
 * `stopped`: no node ran, or none reached the database. `clock set ahead`: the wall clock leapt, as it does when a
 * machine was asleep. `clock set back`: it leapt the other way; such a row has no length.
 */
export type OutageCause = 'stopped' | 'clock set ahead' | 'clock set back'

/** Times in which the service did not run. */
interface OutagesTable {
  id: Generated<number>
  began_at: number
  ended_at: number
  cause: OutageCause
}

/** The database, or a transaction on it. */
export type Db = Kysely<Tables>
