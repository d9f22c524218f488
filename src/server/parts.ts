import type { AccountsPart } from '../accounts/accounts.part.ts'
import type { Authentication } from '../accounts/authentication.ts'
import type { SignInPart } from '../accounts/sign-in.part.ts'
import type { DownloadsPart } from '../downloads/downloads.part.ts'
import type { EventsPart } from '../events/events.part.ts'
import type { FilesPart } from '../files/files.part.ts'
import type { OperationsPart } from '../operations/operations.part.ts'
import type { PagesPart } from '../pages/pages.part.ts'
import type { SharingPart } from '../sharing/sharing.part.ts'
import type { ThumbnailsPart } from '../thumbnails/thumbnails.part.ts'
import type { UploadsPart } from '../uploads/uploads.part.ts'
import type { WebhooksPart } from '../webhooks/webhooks.part.ts'

/** Each handler's type names what it needs; only the route table knows all. */
export interface Parts {
  readonly accounts: AccountsPart
  readonly authentication: Authentication
  readonly downloads: DownloadsPart
  readonly events: EventsPart
  readonly files: FilesPart
  readonly operations: OperationsPart
  readonly pages: PagesPart
  readonly sharing: SharingPart
  readonly signIn: SignInPart
  readonly thumbnails: ThumbnailsPart
  readonly uploads: UploadsPart
  readonly webhooks: WebhooksPart
}
