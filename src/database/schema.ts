import type { Generated, Insertable, Selectable } from 'kysely'
import type { Language } from '../domain/account.ts'
import type { Act } from '../domain/audit.ts'
import type {
  DownloadMails,
  EndNotified,
  EndReason,
  StoredChangeKind,
  StoredEventKind,
} from '../domain/event-kinds.ts'
import type {
  AccountId,
  AuditId,
  BinEntryId,
  BlobId,
  BlobKey,
  BlobProgress,
  ChangeId,
  ContributionId,
  DamageId,
  FileId,
  FileWarningId,
  FolderId,
  FolderIdentifier,
  FolderPlace,
  KeyId,
  LinkEventId,
  LinkId,
  LinkProgram,
  LinkSlotId,
  LinkSlug,
  LinkVisitor,
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
  WebhookDeliveryId,
  WebhookId,
} from '../domain/ids.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import type { ReportReason, ReportState } from '../domain/report.ts'
import type { DeliveryFailure } from '../domain/webhook.ts'

/** All tables. Times are milliseconds since the epoch, sizes are bytes, flags are 0 or 1. */
export interface Tables {
  meta: { key: string; value: string }
  accounts: AccountsTable
  api_keys: ApiKeysTable
  folders: FoldersTable
  folder_covers: FolderCoversTable
  files: FilesTable
  blobs: BlobsTable
  blob_garbage: { key: BlobKey; due_at: number }
  /** Keys in the mirror that no row refers to, or not yet. `due_at` is 0 until a time is set for their removal. */
  mirror_garbage: { key: BlobKey; due_at: number }
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
  damages: DamagesTable
  file_warnings: FileWarningsTable
  links: LinksTable
  transfers: TransfersTable
  link_targets: LinkTargetsTable
  link_slots: LinkSlotsTable
  link_uploads: LinkUploadsTable
  contributions: ContributionsTable
  link_events: LinkEventsTable
  webhooks: WebhooksTable
  webhook_deliveries: WebhookDeliveriesTable
  rate_windows: { subject: string; opened_at: number; ends_at: number; used: number }
  days: DaysTable
  outages: OutagesTable
  refused_contents: RefusedContentsTable
  audit_log: AuditLogTable
  request_days: { account_id: AccountId; day: string; requests: number }
  /** Full-text index of names: `rowid` is the file's id. Maintained by triggers on `files`. */
  file_names: { rowid: FileId; name_folded: string }
}

/** A row as it is read, with all columns or those named. */
export type Row<
  T extends keyof Tables,
  C extends keyof Selectable<Tables[T]> = keyof Selectable<Tables[T]>,
> = Readonly<Pick<Selectable<Tables[T]>, C>>

interface AccountsTable {
  id: Generated<AccountId>
  username: string
  /** `sortKey` of the user name. */
  name_sort: string
  created_at: number
  disabled_at: number | null
  storage_used: Generated<number>
  /** Bytes that uploads under way may still use: the sum of their rows in `reservations` and `uploads`. */
  storage_reserved: Generated<number>
  files_count: Generated<number>
  folders_count: Generated<number>
  is_admin: Generated<0 | 1>
  /** Whether sign-in with the password also requires a code. */
  two_factor: Generated<0 | 1>
  /** When its owner deleted the account. The row itself is deleted once nothing of the account is left. */
  removed_at: number | null
  /** Bytes in the bin, part of `storage_used`, and number of entries. Entries being restored are excluded. */
  bin_bytes: Generated<number>
  bin_entries: Generated<number>
  /** Entries up to this one are to be deleted for good, except those being restored. */
  bin_emptied: BinEntryId | null
  /** Storage limit of the account; null: the limit from the settings. */
  quota: number | null
  /** Counts how often folders of the account were closed: made private, or given a password. */
  closings: Generated<number>
  /** When its owner was told that the storage is nearly full; null once there is room again. */
  nearly_full_at: Generated<number | null>
  /** Days without use after which its files end, 0 for never; null: those of the settings. */
  inactive_days: Generated<number | null>
  /** No live file of the account was last used before this time. */
  unused_since: Generated<number>
  /** Shown on pages to visitors, unlike the user name; null for none. */
  display_name: Generated<string | null>
}

interface ApiKeysTable {
  id: Generated<KeyId>
  account_id: AccountId
  name: string
  /** First characters of the key, which identify it to its owner. */
  prefix: string
  hash: Sha256
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  /** Separated by spaces. Default: all scopes. */
  scopes: Generated<string>
  /**
   * Folder to which the key is restricted, with its descendants, even if it no longer exists. Null: the whole
   * account.
   */
  folder: FolderIdentifier | null
  expires_at: number | null
}

interface FoldersTable {
  id: Generated<FolderId>
  identifier: FolderIdentifier
  account_id: AccountId
  /**
   * Null only for an account's root folder, which has a row so that names are unique at the top level too.
   */
  parent_id: FolderId | null
  name: string
  /** `sortKey` of the name. */
  name_sort: string
  is_public: 0 | 1
  password_hash: string | null
  /**
   * The account's closing counter at the last closing of this folder; 0: never closed.
   */
  closing: Generated<number>
  /** Number of live files directly in the folder. */
  file_count: Generated<number>
  /** Live files in the folder and its descendants, their bytes, and the number of descendant folders. */
  tree_files: Generated<number>
  tree_bytes: Generated<number>
  tree_folders: Generated<number>
  /** Upper bound for the levels below: deletions do not lower it. */
  tree_height: Generated<number>
  /** Identifies the picture in `folder_covers`. */
  cover: Generated<Uuid | null>
  created_at: number
  /** Descendants of a deleted folder count as deleted; their rows are updated later, in steps. */
  deleted_at: number | null
  /** When the last live descendant of a deleted folder was marked. */
  cleared_at: number | null
  /** For a binned folder: the bin entry of the folder itself or of an ancestor. */
  bin_id: BinEntryId | null
  /** Whether it has a row in `transfers`. */
  is_transfer: Generated<0 | 1>
  /** Null for a guest's transfer, whose name others may have. */
  unique_name: Generated<1 | null>
}

interface FolderCoversTable {
  uuid: Uuid
  folder_id: FolderId
  /** WebP in base64. */
  picture: string
}

/**
 * `expired` can be undone, `deleted` cannot. `binned`: with a bin entry of its own. `folder binned`: with an
 * ancestor folder.
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
  /** `sortKey` of the name. */
  name_sort: string
  size: number
  type: string
  created_at: number
  /** When the file was last used; the upload counts as the first use. */
  last_used_at: number
  views: Generated<number>
  downloads: Generated<number>
  /** Null while the file is live. Removed files are in no list, count or total. */
  removed_at: number | null
  /** Reason of the removal. */
  removal: Removal | null
}

/** Nodes that share this database. One whose heartbeats stop is declared dead, and its row is deleted. */
interface NodesTable {
  id: NodeId
  /** Heartbeat counter. */
  beats: Generated<number>
  started_at: number
  /** Name of the machine. */
  host: string
  /** Where the node listens, as its settings say. */
  address: string
  /** Version of the program. */
  version: string
}

interface JobsTable {
  name: string
  /** Node that runs the job at the moment. */
  node: NodeId | null
  /** End of the last run. */
  ended_at: number | null
  /** Consecutive failures. */
  failures: Generated<number>
  /** Error message and time of the last failure; null after a success. */
  failure: string | null
  failed_at: number | null
}

interface ReservationsTable {
  key: BlobKey
  account_id: AccountId
  bytes: number
  created_at: number
  /** Node that receives the upload; when it is dead, so is the upload. */
  node: NodeId | null
  /** Folder of the transfer that it goes into. */
  transfer: Generated<FolderId | null>
}

/** `whole` and `final` uploads become files; a `final` one is the concatenation of `partial` ones. */
export type UploadKind = 'whole' | 'partial' | 'final'

/**
 * `uploading`: incomplete. `processing`: all bytes are durable. `completed`: stored as a file, or a part that
 * may be concatenated. `failed`: can never be completed.
 */
export type UploadState = 'uploading' | 'processing' | 'completed' | 'failed'

/** Resumable uploads, including recently ended ones. */
interface UploadsTable {
  id: Generated<UploadId>
  /** Hash of the token in its address, which is not stored. */
  token_hash: Sha256
  /** Slug and UUID of the file that the upload becomes. */
  slug: Slug
  uuid: Uuid
  account_id: AccountId
  folder_id: FolderId
  name: string
  declared_type: string | null
  /** Upload-Metadata as sent. */
  metadata: string
  kind: UploadKind
  /** Upload-Concat as sent. */
  concat: string | null
  /** For a partial upload that was concatenated: the final upload, and the part's position. */
  joined_into: UploadId | null
  part: number | null
  /** Null while the length is deferred. */
  size: number | null
  /** Durable bytes, and the store's state for continuing after them. Updated together. */
  received: Generated<number>
  progress: BlobProgress | null
  key: BlobKey
  /** Reserved bytes, part of the account's `storage_reserved`. */
  reserved: Generated<number>
  state: UploadState
  failure: string | null
  created_at: number
  /** When bytes last arrived. */
  used_at: number
  /** When the upload released its reservation, and its bytes were discarded or became a file. */
  ended_at: number | null
  /** Fencing token: incremented by each append, so that a superseded append can record nothing. */
  sitting: Generated<number>
  /** Node of the current append. Null: no append is under way. */
  node: NodeId | null
  /** Number of the append that another request is waiting to end. */
  asked: number | null
  /** Whether somebody waits for its bytes: from then on they are stored so that they can be read. */
  is_followed: Generated<0 | 1>
  /** HMAC of the address from which a guest created the upload. */
  address: string | null
  /** The same of the networks around it: /24, or /48 and /56; null for accounts. */
  network: Generated<string | null>
  subnet: Generated<string | null>
  /** The upload link that it comes by: whoever knows the token may go on with it. */
  link_id: Generated<LinkId | null>
  file_id: FileId | null
  /** Folder of the transfer that it goes into, at any depth. */
  transfer: Generated<FolderId | null>
}

interface IdempotencyKeysTable {
  /** `account:<id>`, `key:<id>` for an API key with restrictions, or `guest`. */
  caller: string
  hash: Sha256
  created_at: number
  /** Node that processes the first request. */
  node: NodeId | null
  /** Response to the first request, as JSON. Null: still being processed. */
  result: string | null
}

/**
 * Reports against files. The file's data is copied: the file may be deleted by the time the report is read.
 */
interface ReportsTable {
  id: Generated<ReportId>
  file_id: FileId
  slug: Slug
  name: string
  sha256: Sha256
  reason: ReportReason
  text: string | null
  created_at: number
  /** HMAC that recognizes the same address on the same day without storing it. Null once that day is over. */
  reporter: string | null
  state: Generated<ReportState>
  closed_at: number | null
}

/** Statistics of the whole server, one row per day in UTC. */
interface DaysTable {
  day: string
  requests: Generated<number>
  /** Bytes of bodies. */
  bytes_in: Generated<number>
  bytes_out: Generated<number>
  uploads: Generated<number>
  downloads: Generated<number>
  /** The day's last sample of several. Null for a day without a sample. */
  accounts: number | null
  files: number | null
  storage_used: number | null
}

/** Contents that were taken down and are refused at upload. */
interface RefusedContentsTable {
  sha256: Sha256
  refused_at: number
  /** Number of files removed. */
  files: Generated<number>
  /** Whether all files are removed; if not, a job continues. */
  cleared: Generated<0 | 1>
}

/** Audit log. Triggers of the database reject updates and deletions. */
interface AuditLogTable {
  id: Generated<AuditId>
  at: number
  /** Null: the command line. No foreign key, because the account may be deleted. */
  account_id: AccountId | null
  username: string | null
  address: string | null
  act: Act
  object: string | null
  /** As JSON. */
  details: string
}

/** Sessions of browsers. */
interface SessionsTable {
  id: Generated<SessionId>
  account_id: AccountId
  /** Hash of the cookie's token, which is not stored. */
  token_hash: Sha256
  user_agent: string | null
  created_at: number
  /** Time of the last use, to the hour. */
  updated_at: number
  expires_at: number
  /** Time of the last re-authentication after signing in; null: none. */
  proved_at: number | null
}

/** Credentials of accounts: a password, or the subject at an OpenID Connect provider. */
interface IdentitiesTable {
  id: Generated<number>
  account_id: AccountId
  provider: IdentityProvider
  /** The account's own id for a password, the provider's subject for OpenID Connect. */
  subject: string
  password_hash: string | null
  created_at: number
  updated_at: number
}

export type IdentityProvider = 'credential' | 'oidc'

/** Pending steps of sign-in flows. */
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
  /** Base64url. */
  credential_id: string
  /** COSE key in base64. */
  public_key: string
  /** Signature counter of the authenticator; 0 for one that does not count. */
  counter: number
  device_type: string
  backed_up: 0 | 1
  /** Comma-separated transports to the authenticator; may be empty. */
  transports: string | null
  aaguid: string | null
  created_at: number
}

interface TwoFactorsTable {
  id: Generated<number>
  account_id: AccountId
  /** Encrypted, as are the recovery codes. */
  secret: string
  recovery_codes: string
  /** Whether a code has proven that the person has the secret. */
  verified: 0 | 1
  /** TOTP time step (RFC 6238) of the last accepted code; null: none. */
  last_step: number | null
}

/**
 * `welcome` creates the first administrator, `invitation` an account, `password` sets the password of an
 * existing account, and `mail` verifies its address.
 */
export type LinkPurpose = 'welcome' | 'invitation' | 'password' | 'mail'

interface OneTimeLinksTable {
  token_hash: Sha256
  purpose: LinkPurpose
  /** Account whose password is set or whose address is verified, or who sent the invitation. */
  account_id: AccountId | null
  created_at: number
  expires_at: number
}

/** Entries of the bin, each for a file or folder whose own row is marked too. */
interface BinTable {
  id: Generated<BinEntryId>
  account_id: AccountId
  file_id: FileId | null
  folder_id: FolderId | null
  /** Bytes and files at the time of deletion, less those that were deleted since. */
  bytes: number
  files: number
  binned_at: number
  /** Whether a restore is under way, which cannot be cancelled. */
  restoring: Generated<0 | 1>
}

/**
 * Log of recent changes in accounts. Things are named by public identifiers: rows may be gone when a change
 * is read.
 */
interface ChangesTable {
  id: Generated<ChangeId>
  account_id: AccountId
  kind: StoredChangeKind
  file_id: FileId | null
  folder: FolderIdentifier | null
  /** Folder that contains the file or folder, or did until now. */
  place: FolderPlace | null
  /** For a move: the folder before it. */
  from_place: FolderPlace | null
  /** For `link`: the row of `link_events`, which may be gone. */
  event_id: Generated<LinkEventId | null>
}

/** Mail addresses of accounts. */
interface MailAddressesTable {
  account_id: AccountId
  /** The verified address. */
  address: MailAddress | null
  address_folded: string | null
  /** An unverified address, which replaces the other once it is verified. */
  pending: MailAddress | null
  language: Language
  /** Whether the owner wants mails about their files and links. */
  warnings: Generated<0 | 1>
  /** Time of the last warning, and the upper bound of `last_used_at` that it covered. */
  warned_at: number | null
  warned_until: number | null
  /** The last of `damages` that its mails told of, and when. */
  damage_told: Generated<DamageId>
  damage_told_at: number | null
  /** When its last mail told of what happened to links. */
  events_told_at: Generated<number | null>
  /** Which downloads by links such a mail tells of. */
  download_mails: Generated<DownloadMails>
}

/** The outbox. A row is deleted as soon as its mail is sent. */
interface MailsTable {
  id: Generated<MailId>
  message_id: string
  account_id: AccountId
  recipient: MailAddress
  language: Language
  /** A `MailContent` as JSON. */
  letter: string
  created_at: number
  /** Time after which the mail is useless. */
  ends_at: number
  /** Time of the next attempt. During an attempt: when its claim ends. */
  due_at: number
  /** Number of failed attempts. */
  tries: Generated<number>
}

/**
 * Requests for a new password, by the name or address that was entered, whether or not it belongs to an
 * account.
 */
interface ResetRequestsTable {
  id: Generated<ResetRequestId>
  asked: string
  created_at: number
}

/** Warnings sent about files: those last used after the first time and up to the second. */
interface FileWarningsTable {
  id: Generated<FileWarningId>
  /** Hash of the token in the link that keeps them. */
  token_hash: Sha256
  account_id: AccountId
  used_after: number
  used_until: number
  warned_at: number
  /** When the link was used. Null again once its effect is applied to all files. */
  kept_at: number | null
}

interface BlobsTable {
  id: Generated<BlobId>
  key: BlobKey
  sha256: Sha256
  crc32: number
  size: number
  /** Number of rows in `files` that reference the blob, removed ones included. */
  refs: number
  /** When the present copy of the bytes was stored. */
  created_at: number
  /** Key of the copy that was found damaged; means nothing once `key` is another. */
  damaged_key: BlobKey | null
  damage: Damage | null
  damaged_at: number | null
  /** When the bytes were last read whole and had the hash; null where they were not since they were stored. */
  verified_at: number | null
  /** Key of its copy in the mirror, verified when it was made; stays when another copy takes the place of `key`. */
  mirrored_key: BlobKey | null
}

/** Copies of contents that were marked as damaged, each once, also after their marks are gone. */
interface DamagesTable {
  id: Generated<DamageId>
  key: BlobKey
  blob_id: BlobId
  found_at: number
  /** Null while the mark holds. */
  ended_at: number | null
  /** `repaired`: the content has sound bytes again. `deleted`: no file has it any more. */
  outcome: 'repaired' | 'deleted' | null
}

/** Gone from the store, of another size than stored, with other bytes than those that were hashed, or not to be read. */
export type Damage = 'missing' | 'size' | 'hash' | 'unreadable'

/**
 * `wanted`: to be made, or being made. `made`: stored. `none`: the content cannot have one. `unsupported`:
 * not possible on the node that tried. `failed`: set aside after too many failures.
 */
export type ThumbnailState = 'wanted' | 'made' | 'none' | 'unsupported' | 'failed'

/** Thumbnails of contents that were examined. Deleted with their blob. */
interface ThumbnailsTable {
  blob_id: BlobId
  state: ThumbnailState
  /** Blob with the small picture followed by the large and the screen-sized one; null unless made. */
  key: BlobKey | null
  /**
   * Sizes in bytes. Without a large picture the small one serves; without a screen-sized one the content
   * does.
   */
  small: Generated<number>
  large: Generated<number>
  screen: Generated<number>
  /** 1 where browsers show the content itself otherwise, because they ignore its orientation; else 0. */
  turned: Generated<number>
  /** Pixels of the content as it is shown, or of a film's frame; null unless made, and for those of version 2. */
  width: number | null
  height: number | null
  /** Node that makes it. Null: not claimed. */
  node: NodeId | null
  /** Number of attempts that count: outages do not. */
  tries: Generated<number>
  /** Time of the next attempt while wanted. */
  due_at: number
  /** Whose turn it waits for while wanted: see `turnOf`. */
  turn: Generated<number>
}

/**
 * `stopped`: no node ran, or none reached the database. `clock set ahead`: the wall clock leapt ahead, as
 * after the machine was asleep. `clock set back`: it leapt back; such a row has no length.
 */
export type OutageCause = 'stopped' | 'clock set ahead' | 'clock set back'

/** Periods in which the service did not run. */
interface OutagesTable {
  id: Generated<number>
  began_at: number
  ended_at: number
  cause: OutageCause
}

/** Made links, by account; those of guests belong to the guest account. */
interface LinksTable {
  id: Generated<LinkId>
  account_id: AccountId
  slug: LinkSlug
  /** Equal for slugs that look alike; unique. */
  slug_look: string
  name: string | null
  /** What the sender says about it; several lines. */
  message: string | null
  password_hash: string | null
  ends_at: number | null
  created_at: number
  revoked_at: number | null
  /** null: any number. */
  max_downloads: number | null
  /** Besides those that claims still hold. */
  downloads: Generated<number>
  /** Millionths of a file or zip that claims sent which gave their place back and are gone; below a whole. */
  given_back: Generated<number>
  given_back_bytes: Generated<number>
  /**
   * Start of the window in which downloads are notified one by one, null before the first, and how many were in it.
   * Those beyond, with their bytes, are pending until the window is over.
   */
  notify_window_start: Generated<number | null>
  notified_count: Generated<number>
  pending_count: Generated<number>
  pending_bytes: Generated<number>
  end_notified: Generated<EndNotified>
}

/** Folders with one link, made together, that uploads go into. Those of guests are the guest account's. */
interface TransfersTable {
  folder_id: FolderId
  /** It may have been deleted since, long after it was revoked. */
  link_id: LinkId
  /** What the sender calls themselves. */
  sender: string | null
  /** null: not announced. */
  announced_files: number | null
  announced_bytes: number | null
  /** Files that were stored in it, deleted ones included, and their bytes. */
  arrived_files: Generated<number>
  arrived_bytes: Generated<number>
  /** When its sender said that all is there. */
  closed_at: Generated<number | null>
  /** Whether the terms of the link made the folder private: it is public again without them. */
  opens_again: Generated<0 | 1>
  created_at: number
  /** No file in it was used later. */
  last_used_at: number
  /** When a job looks whether anything is in it; null: a file is. */
  look_at: number | null
  /** HMACs of a guest's address and the networks around it, as of uploads; null for accounts. */
  network: string | null
  subnet: string | null
  address: string | null
}

/** What a visitor downloads by a link with a limit; see `sharing/links/link-slots.ts`. */
interface LinkSlotsTable {
  id: Generated<LinkSlotId>
  link_id: LinkId
  visitor: LinkVisitor
  /** null where a cookie tells the visitor. */
  program: LinkProgram | null
  /** In millionths of a file or a zip; of several, their sum. */
  sent: number
  /** Transfers that are running. */
  running: number
  created_at: number
  /** Bytes of the transfers that have ended. */
  bytes: Generated<number>
  /** Whether its owner was told of the download. */
  told: Generated<0 | 1>
  /** Until when it has a place without a byte, which the form of the page took; null once bytes were asked for. */
  reserved_until: number | null
  /** When a transfer last began or ended; 0: none has. */
  used_at: Generated<number>
}

/**
 * What links open, in the order chosen. Exactly one of the two is set. It may have been deleted since: ids are
 * never used again.
 */
interface LinkTargetsTable {
  link_id: LinkId
  position: number
  file_id: FileId | null
  folder_id: FolderId | null
}

/** What an upload link takes, and into which folder. Such a link has no targets: it opens nothing. */
interface LinkUploadsTable {
  link_id: LinkId
  /** It may have been deleted since. */
  folder_id: FolderId
  /** null: any number. The sizes are in bytes: of all files together, and of each. */
  max_files: number | null
  max_size: number | null
  max_file_size: number | null
  /** As in `accept` of HTML: `.pdf,image/*`; null: any. */
  types: string | null
  /** What a contributor is asked for, as JSON: `{"sender":"required"}`. */
  fields: string
}

/**
 * What came by an upload link, or is coming. It has a place as long as its file is there, its resumable upload is open, or
 * its reservation stands: nothing needs to give the place back.
 */
interface ContributionsTable {
  id: Generated<ContributionId>
  link_id: LinkId
  /** Of the file that it is, or is going to be. */
  file_uuid: Uuid
  /** HMAC of that UUID, which the receipt carries. */
  receipt: string
  /** Key of the reservation of an upload that one request brings; null for a resumable one. */
  reservation: BlobKey | null
  /** Bytes at most, as declared. */
  size: number
  /** As its sender called it, cleaned. */
  name: string
  sender: string | null
  address: string | null
  reference: string | null
  created_at: number
}

/** What happened to links, by account. A row never changes but for `mailed`; see `core/link-events.rows.ts`. */
interface LinkEventsTable {
  id: Generated<LinkEventId>
  /** Names the event to receivers of webhooks; random, made by the database. */
  uid: Generated<string>
  account_id: AccountId
  /** null: of the account itself. */
  link_id: LinkId | null
  kind: StoredEventKind
  at: number
  /** What was downloaded or came; of an archive there is only the name. It may have been renamed or deleted since. */
  file_id: FileId | null
  file_name: string | null
  /** As many as were sent or came; null where nothing was. */
  bytes: number | null
  /** Downloads that the row stands for. */
  times: Generated<number>
  reason: EndReason | null
  /** The client's, where the operator wants that kept. */
  address: string | null
  /** Whether a mail told of it, or none has to. */
  mailed: Generated<0 | 1>
}

/** Addresses that get the events of an account. */
interface WebhooksTable {
  id: Generated<WebhookId>
  account_id: AccountId
  url: string
  /** `whsec_` and base64, as Standard Webhooks has it: it signs, so it cannot be a hash. */
  secret: string
  /** Separated by spaces; empty: all. */
  kinds: string
  created_at: number
  /** Failed attempts since the last that did not fail, and when the first of them was. */
  failures: Generated<number>
  failing_since: Generated<number | null>
  /** Nothing is sent before. */
  rest_until: Generated<number>
  disabled_at: Generated<number | null>
}

/** The outbox of webhooks, and what became of it. */
interface WebhookDeliveriesTable {
  id: Generated<WebhookDeliveryId>
  webhook_id: WebhookId
  event_id: LinkEventId
  /** When it was put here, or sent again by hand. */
  queued_at: number
  /** Time of the next attempt. During an attempt: when its claim ends. null: it is over. */
  due_at: number | null
  tries: Generated<number>
  delivered_at: Generated<number | null>
  /** Status of the last answer; null where there was none. */
  status: Generated<number | null>
  failure: Generated<DeliveryFailure | null>
}

/** The columns of a new file's row, but for the key of its name. */
export type NewFile = Readonly<
  Omit<Insertable<Tables['files']>, 'id' | 'name_sort' | 'views' | 'downloads' | 'removed_at' | 'removal'>
>
