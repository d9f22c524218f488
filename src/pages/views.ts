import type { AdminSection } from '../../web/admin/data.ts'
import type { PreviewKind } from '../../web/file/data.ts'
import type { SettingsSection } from '../../web/settings/data.ts'
import type { LegalPage } from '../domain/branding.ts'
import type { ErrorCode, StorageReason } from '../domain/errors.ts'
import type { LinkSlug } from '../domain/ids.ts'
import type { ReportReason } from '../domain/report.ts'
import type { SentContent } from '../domain/sent-kinds.ts'
import type { AskedFields } from '../domain/upload-terms.ts'
import type { FolderQuery, FolderViewMode } from './folder-query.ts'
import type { GuideName } from './guides.ts'

/** View models of the pages. Routes fill them in; the components in `pages/` depend on nothing else. */

/** Takes a slot of a limited link, and leads to the bytes. */
export interface DownloadForm {
  readonly action: string
  /** Idempotency value: one value takes one slot. */
  readonly once: string
  /** Absolute address for programs, which takes a slot. */
  readonly address: string
}

/** A page above; the name is null for a link without one. */
export interface PageStep {
  readonly name: string | null
  readonly url: string
}

export interface FilePageView {
  readonly name: string
  /** Null below a link, which reveals no other way to the file. */
  readonly uuid: string | null
  /** Bytes. */
  readonly size: number
  readonly type: string
  /** ISO 8601 UTC. */
  readonly uploadedAt: string
  /** ISO 8601 UTC; use postpones it, null for never. */
  readonly expiresAt: string | null
  readonly sha256: string
  /** When the stored bytes were last read and found sound, in ISO 8601 UTC. */
  readonly verifiedAt: string | null
  readonly views: number
  readonly downloads: number
  readonly url: string
  /** Absolute; always an image. */
  readonly thumbnailUrl: string
  /** Absolute: JPEG for previews in chats. */
  readonly cardUrl: string
  /** Absolute; null for what not everybody may embed. */
  readonly oembedUrl: string | null
  readonly downloadUrl: string
  readonly downloadForm: DownloadForm | null
  readonly pictureUrl: string | null
  readonly preview: FilePreview | null
  readonly folder: PageStep | null
  /** Null for the owner. */
  readonly reportUrl: string | null
  /** For the owner: what keeps others from opening the link. */
  readonly barrier: BarrierNotice | null
  /** To whom the loss of bytes is shown; null for a sound file. */
  readonly damage: 'owner' | 'visitor' | null
  readonly notice: LinkNotice | null
}

/** On a page below the link's own, the terms alone. */
export interface LinkNotice {
  /** Null where the page has it as its title. */
  readonly name: string | null
  /** By an account's display name, or what a guest calls themselves. */
  readonly sender: { readonly name: string; readonly isAccount: boolean } | null
  /** Null below the link's own page. */
  readonly content: SentContent | null
  /** Of a transfer as long as more may come; null for what was not announced. */
  readonly arrived: {
    readonly files: number
    readonly ofFiles: number | null
    readonly bytes: number
    readonly ofBytes: number | null
  } | null
  readonly message: string | null
  /** ISO 8601 UTC. */
  readonly endsAt: string | null
  /** Too soon to need a year. */
  readonly endsThisYear: boolean
  /** Downloads left of a limited link; `yours`: none, but the visitor holds a slot. */
  readonly left: number | 'yours' | null
  readonly opensOnce: boolean
}

export interface BarrierNotice {
  readonly kind: 'private' | 'password'
  readonly folder: string
  readonly manageUrl: string
}

export interface FilePreview {
  readonly kind: PreviewKind
  /** Signed, for inline display. */
  readonly url: string
  /** Whether a browser displays the content correctly instead of saving it. */
  readonly opens: boolean
  /** Shows text or source code as plain text; null for other kinds. */
  readonly rawUrl: string | null
  /** Thumbnail and screen-sized rendition of a picture that is large, or that browsers show rotated. */
  readonly screen: { readonly thumbnailUrl: string; readonly url: string } | null
}

export interface FolderPageView {
  /** Null for a link without one, which is called by its content. */
  readonly name: string | null
  /** Absolute. */
  readonly url: string
  /** Absolute: JPEG for previews in chats. */
  readonly cardUrl: string
  /** Outermost first. */
  readonly above: readonly PageStep[]
  /** A null count is hidden: the folder has a password of its own. */
  readonly folders: readonly {
    readonly name: string
    readonly url: string
    readonly fileCount: number | null
  }[]
  readonly files: readonly {
    readonly name: string
    readonly path: string
    readonly size: number
    readonly type: string
    /** ISO 8601 UTC. */
    readonly createdAt: string
    readonly downloads: number
    readonly thumbnailUrl: string
    /** Whether the thumbnail is an icon for the file's type. */
    readonly isIcon: boolean
    /** Of the file as it is shown; null for an icon, and while unknown. */
    readonly pixels: { readonly width: number; readonly height: number } | null
    /** Of the thumbnail, the smallest first; `width` in pixels. Empty where there is one, or while unknown. */
    readonly renditions: readonly { readonly address: string; readonly width: number }[]
  }[]
  /** Over all pages. */
  readonly folderCount: number
  readonly fileCount: number
  /** Creation in milliseconds, and the bytes of `fileCount`; null for a bundle. */
  readonly facts: { readonly createdAt: number; readonly bytes: number } | null
  /** The folder's own picture, for viewers of the folder's own address. */
  readonly cover: string | null
  /** Replaces links to the bytes of all files; its value is also that of each file's form. */
  readonly downloadForm: DownloadForm | null
  readonly totals: { readonly files: number; readonly bytes: number } | null
  readonly query: FolderQuery
  readonly look: FolderViewMode
  readonly pages: number
  readonly firstFilePage: number
  /** On earlier pages. */
  readonly filesBefore: number
  /** For the owner: what keeps others from opening the link. */
  readonly barrier: BarrierNotice | null
  readonly notice: LinkNotice | null
}

export interface PasswordPageView {
  readonly action: string
  readonly nonce: string
  readonly next: string
  readonly error: { readonly code: ErrorCode; readonly retryAfter: number | null } | null
}

export interface ReportPageView {
  readonly file: { readonly name: string; readonly path: string }
  readonly filled: { readonly reason: ReportReason | null; readonly text: string }
  readonly problem: ReportProblem | null
}

export type ReportProblem =
  | { readonly kind: 'no reason' | 'long text' }
  /** Seconds. */
  | { readonly kind: 'too many'; readonly retryAfter: number }

export interface AccountFormView {
  readonly kind: 'signIn' | 'code' | 'signUp' | 'welcome' | 'setPassword'
  readonly action: string
  readonly next: string
  readonly username: string
  readonly error: { readonly code: ErrorCode; readonly retryAfter: number | null } | null
  readonly oidc: { readonly name: string; readonly address: string } | null
  readonly canSignUp: boolean
  readonly canReset: boolean
  readonly isPasswordSet: boolean
}

/** The question, and the confirmation afterwards. */
export interface MailPageView {
  readonly kind:
    | 'forgotten'
    | 'forgottenSent'
    | 'noMail'
    | 'proved'
    | 'verify'
    | 'verified'
    | 'keep'
    | 'kept'
    | 'staying'
    | 'nothingToKeep'
    | 'unsubscribe'
    | 'unsubscribed'
  readonly action: string | null
  readonly username: string
  readonly address: string
  readonly files: number
  readonly days: number
  /** Seconds, after too many attempts. */
  readonly retryAfter: number | null
}

export interface ErrorPageView {
  readonly status: number
  readonly code: ErrorCode
  readonly reason: StorageReason | null
  /** Seconds. */
  readonly retryAfter: number | null
  readonly path: string
}

export interface ReferenceView {
  readonly groups: readonly { readonly name: string; readonly operations: readonly ReferenceOperation[] }[]
  readonly schemas: readonly { readonly name: string; readonly fields: readonly ReferenceField[] }[]
}

export interface ReferenceOperation {
  /** Fragment identifier. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  /** In words. */
  readonly access: string
  readonly parameters: readonly (ReferenceField & { readonly place: string })[]
  readonly body: { readonly type: string; readonly fields: readonly ReferenceField[] } | null
  readonly answers: readonly {
    readonly status: string
    readonly description: string
    /** Media type; empty for a response without a body. */
    readonly type: string
    readonly fields: readonly ReferenceField[]
    readonly example: string | null
  }[]
  readonly errors: readonly { readonly status: string; readonly description: string }[]
  readonly curl: string
}

export interface ReferenceField {
  readonly name: string
  readonly type: ReferenceType
  readonly isRequired: boolean
  readonly description: string
}

/** `schema`: the referenced named schema, or null. */
export interface ReferenceType {
  readonly text: string
  readonly schema: string | null
}

export interface LegalPageView {
  readonly page: LegalPage
  readonly markdown: string
}

export interface GuidePageView {
  readonly name: GuideName
  /** Absolute, without a trailing slash. */
  readonly publicUrl: string
}

export interface FilesPageView {
  /** Absolute, without a trailing slash. */
  readonly publicUrl: string
  /** Bytes. */
  readonly maxFileSize: number
}

export interface SettingsPageView {
  readonly section: SettingsSection
  readonly username: string
  /** The server sends mail, or the account has an address. */
  readonly hasMail: boolean
  /** Absolute, without a trailing slash. */
  readonly publicUrl: string
}

export interface AdminPageView {
  readonly section: AdminSection
  readonly canInvite: boolean
}

/** Contains nothing of the link's folder. */
export interface UploadLinkView {
  readonly slug: LinkSlug
  readonly owner: string
  readonly notice: LinkNotice
  readonly fields: AskedFields
  readonly types: readonly string[] | null
  /** Bytes per file. */
  readonly maxFileSize: number
  readonly isFull: boolean
  /** Null without a limit. */
  readonly filesLeft: number | null
}

export interface StartPageView {
  /** Absolute, without a trailing slash. */
  readonly publicUrl: string
  readonly guestUploads: boolean
  readonly isSignedIn: boolean
  /** Bytes. */
  readonly maxFileSize: number
  /** Days after which the reader's unused files are deleted; null for never. */
  readonly inactiveDays: number | null
}
