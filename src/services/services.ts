import type { Access } from './access.ts'
import type { AccountAdministration } from './account-administration.ts'
import type { Accounts } from './accounts.ts'
import type { AllFiles } from './all-files.ts'
import type { ArchiveTokens } from './archive-tokens.ts'
import type { Archives } from './archives.ts'
import type { AuditLog } from './audit.ts'
import type { BackgroundJobs } from './background-jobs.ts'
import type { Bin } from './bin.ts'
import type { BinEmptying } from './bin-emptying.ts'
import type { BinRestoring } from './bin-restoring.ts'
import type { Content } from './content.ts'
import type { ContentTokens } from './content-tokens.ts'
import type { DiskWatch } from './disk-space.ts'
import type { Figures } from './figures.ts'
import type { FileWarnings } from './file-warnings.ts'
import type { Files } from './files.ts'
import type { FolderMoves } from './folder-moves.ts'
import type { FolderPasswords } from './folder-passwords.ts'
import type { Folders } from './folders.ts'
import type { Removing } from './generations.ts'
import type { Idempotency } from './idempotency.ts'
import type { Keys } from './keys.ts'
import type { MailAddresses } from './mail-addresses.ts'
import type { Notices } from './notices.ts'
import type { Oidc } from './oidc.ts'
import type { OneTimeLinks } from './one-time-links.ts'
import type { Lifetime } from './outages.ts'
import type { OwnAccount } from './own-account.ts'
import type { OwnKeys } from './own-keys.ts'
import type { Passkeys } from './passkeys.ts'
import type { PasswordResets } from './password-resets.ts'
import type { Proofs } from './proofs.ts'
import type { PublicFolders } from './public-folders.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Readiness } from './readiness.ts'
import type { Receipts } from './receipts.ts'
import type { Removals } from './removals.ts'
import type { Reporting } from './reporting.ts'
import type { Reports } from './reports.ts'
import type { ResumableUploads } from './resumable-uploads.ts'
import type { SecondFactor } from './second-factor.ts'
import type { Sessions } from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import type { SignUp } from './sign-up.ts'
import type { Statistics } from './statistics.ts'
import type { StorageShares } from './storage-shares.ts'
import type { TakeDowns } from './take-downs.ts'
import type { Thumbnails } from './thumbnails.ts'
import type { TrafficCounter } from './traffic.ts'
import type { Uploads } from './uploads.ts'
import type { Usage } from './usage.ts'
import type { WarningEnd } from './warning-end.ts'
import type { Watching } from './watching.ts'

/** Everything the outside may ask the host to do. Built by `app.ts`. */
export interface Services {
  readonly access: Access
  readonly accountAdministration: AccountAdministration
  readonly accounts: Accounts
  readonly allFiles: AllFiles
  readonly archives: Archives
  readonly archiveTokens: ArchiveTokens
  readonly auditLog: AuditLog
  readonly backgroundJobs: BackgroundJobs
  readonly bin: Bin
  readonly binEmptying: BinEmptying
  readonly binRestoring: BinRestoring
  readonly content: Content
  readonly contentTokens: ContentTokens
  readonly diskWatch: DiskWatch
  /** How long a file stays that nobody uses. */
  readonly fileLifetime: Lifetime
  readonly fileWarnings: FileWarnings
  readonly figures: Figures
  readonly files: Files
  readonly folderMoves: FolderMoves
  readonly folderPasswords: FolderPasswords
  readonly folders: Folders
  readonly idempotency: Idempotency
  readonly keys: Keys
  readonly notices: Notices
  readonly mailAddresses: MailAddresses
  readonly oidc: Oidc
  readonly oneTimeLinks: OneTimeLinks
  readonly ownAccount: OwnAccount
  readonly ownKeys: OwnKeys
  readonly passkeys: Passkeys
  readonly passwordResets: PasswordResets
  readonly proofs: Proofs
  readonly publicFolders: PublicFolders
  readonly rates: RateLimits
  readonly readiness: Readiness
  readonly receipts: Receipts
  readonly removals: Removals
  readonly removing: Removing
  readonly reporting: Reporting
  readonly reports: Reports
  readonly resumable: ResumableUploads
  readonly secondFactor: SecondFactor
  readonly sessions: Sessions
  readonly signIn: SignIn
  readonly signUp: SignUp
  readonly statistics: Statistics
  readonly takeDowns: TakeDowns
  readonly storageShares: StorageShares
  readonly thumbnails: Thumbnails
  readonly traffic: TrafficCounter
  readonly uploads: Uploads
  readonly usage: Usage
  readonly warningEnd: WarningEnd
  readonly watching: Watching
}
