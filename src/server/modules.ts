import type { AccountsModule } from '../accounts/accounts.module.ts'
import type { Authentication } from '../accounts/authentication.ts'
import type { SignInModule } from '../accounts/sign-in.module.ts'
import type { DownloadsModule } from '../downloads/downloads.module.ts'
import type { EventsModule } from '../events/events.module.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { OperationsModule } from '../operations/operations.module.ts'
import type { PagesModule } from '../pages/pages.module.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import type { ThumbnailsModule } from '../thumbnails/thumbnails.module.ts'
import type { UploadsModule } from '../uploads/uploads.module.ts'
import type { WebhooksModule } from '../webhooks/webhooks.module.ts'

/** Each handler's type names what it needs; only the route table knows all. */
export interface Modules {
  readonly accounts: AccountsModule
  readonly authentication: Authentication
  readonly downloads: DownloadsModule
  readonly events: EventsModule
  readonly files: FilesModule
  readonly operations: OperationsModule
  readonly pages: PagesModule
  readonly sharing: SharingModule
  readonly signIn: SignInModule
  readonly thumbnails: ThumbnailsModule
  readonly uploads: UploadsModule
  readonly webhooks: WebhooksModule
}
