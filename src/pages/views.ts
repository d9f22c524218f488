import type { AdminSection } from '../../web/admin/data.ts'
import type { PreviewKind } from '../../web/file/data.ts'
import type { SettingsSection } from '../../web/settings/data.ts'
import type { ErrorCode, StorageReason } from '../domain/errors.ts'
import type { LinkSlug } from '../domain/ids.ts'
import type { ReportReason } from '../domain/report.ts'
import type { AskedFields } from '../domain/upload-terms.ts'
import type { FolderQuery, FolderViewMode } from './folder-query.ts'
import type { GuideName } from './guides.ts'

/**
 * View models of the pages. Routes fill them in; the components in `pages/` render them and depend on nothing
 * else.
 */

/** Of a link with a number of downloads: the form that takes a place and leads to the bytes. */
export interface DownloadForm {
  /** Path that it posts to. */
  readonly action: string
  /** The same value is the same place. */
  readonly once: string
  /** Absolute address for programs, which takes a place by itself. */
  readonly address: string
}

export interface FilePageView {
  readonly name: string
  /** null by a made link, which tells nothing that opens the file without it. */
  readonly uuid: string | null
  /** Bytes. */
  readonly size: number
  readonly type: string
  /** ISO 8601 UTC. */
  readonly uploadedAt: string
  /** Expiry unless the file is used before, in ISO 8601 UTC; null: never. */
  readonly expiresAt: string | null
  readonly sha256: string
  /** When the stored bytes were last read and found sound, in ISO 8601 UTC; null where nobody has since they were stored. */
  readonly verifiedAt: string | null
  readonly views: number
  readonly downloads: number
  /** Absolute address of this page. */
  readonly url: string
  /** Absolute address of the thumbnail; always an image. */
  readonly thumbnailUrl: string
  /** Address of the bytes as an attachment. */
  readonly downloadUrl: string
  /** In place of a link to the bytes; null for none. */
  readonly downloadForm: DownloadForm | null
  /** Path of the larger thumbnail; null when there is none. */
  readonly pictureUrl: string | null
  /** null to show the icon only. */
  readonly preview: FilePreview | null
  /** The public folder that contains the file, or null. */
  readonly folder: { readonly name: string; readonly url: string } | null
  /** Address of the report form; null for the owner. */
  readonly reportUrl: string | null
  /** For the owner: what keeps others from opening the link. Null if nothing does, and for other viewers. */
  readonly barrier: BarrierNotice | null
  /** Who reads that bytes of the file are lost; null for a sound file. */
  readonly damage: 'owner' | 'visitor' | null
  /** Of the made link by which the page was opened; null for none. */
  readonly notice: LinkNotice | null
}

/** What the page of a made link says about it. */
export interface LinkNotice {
  /** Its name, where the page does not have that for a title. */
  readonly name: string | null
  /** Of its sender, in lines. */
  readonly message: string | null
  /** ISO 8601 UTC. */
  readonly endsAt: string | null
  /** How many others may download it, where that is limited; `yours`: none, but the visitor has begun. */
  readonly left: number | 'yours' | null
}

/** An ancestor folder that is private, or that requires a password from others. */
export interface BarrierNotice {
  readonly kind: 'private' | 'password'
  /** Name of the folder. */
  readonly folder: string
  /** Where the owner can change that. */
  readonly manageUrl: string
}

export interface FilePreview {
  readonly kind: PreviewKind
  /** Signed address of the bytes, for showing them inline. */
  readonly url: string
  /** Whether a browser that opens the address displays the content rather than saving it, and as it is meant. */
  readonly opens: boolean
  /** Address that shows a text or source code as plain text; null for other kinds. */
  readonly rawUrl: string | null
  /** Thumbnail and screen-sized rendition of a large picture, or of one that browsers show on its side; else null. */
  readonly screen: { readonly thumbnailUrl: string; readonly url: string } | null
}

export interface FolderPageView {
  readonly name: string
  /** Absolute address of this page. */
  readonly url: string
  /** Ancestor folders, outermost first. */
  readonly above: readonly { readonly name: string; readonly url: string }[]
  /** Subfolders on this page. A null count is hidden: the folder has a password of its own. */
  readonly folders: readonly {
    readonly name: string
    readonly url: string
    readonly fileCount: number | null
  }[]
  /** Files on this page. */
  readonly files: readonly {
    readonly name: string
    /** Path of its page. */
    readonly path: string
    readonly size: number
    readonly type: string
    /** ISO 8601 UTC. */
    readonly createdAt: string
    readonly downloads: number
    /** Path of the thumbnail, or of a shared icon. */
    readonly thumbnailUrl: string
  }[]
  /** Numbers over all pages. */
  readonly folderCount: number
  readonly fileCount: number
  /** When the folder was made, in milliseconds, and the bytes of `fileCount`; null for what is no folder. */
  readonly facts: { readonly createdAt: number; readonly bytes: number } | null
  /** Path of the folder's own picture, for who may see the folder at its own address; null for none. */
  readonly cover: string | null
  /** In place of links to the bytes, for all of it; its value is also that of each file's own form. null for none. */
  readonly downloadForm: DownloadForm | null
  /** Totals of the visible tree; null when they were not computed. */
  readonly totals: { readonly files: number; readonly bytes: number } | null
  readonly query: FolderQuery
  /** The effective view, chosen or default. */
  readonly look: FolderViewMode
  readonly pages: number
  /** First page with files. */
  readonly firstFilePage: number
  /** For the owner: what keeps others from opening the link. Null if nothing does, and for other viewers. */
  readonly barrier: BarrierNotice | null
  /** Of the made link by which the page was opened; null for none. */
  readonly notice: LinkNotice | null
}

export interface PasswordPageView {
  /** Target of the form: the page of the locked folder or link. */
  readonly action: string
  readonly nonce: string
  /** Path of this site to open after unlocking. */
  readonly next: string
  /** Error of the last attempt, or null. */
  readonly error: { readonly code: ErrorCode; readonly retryAfter: number | null } | null
}

export interface ReportPageView {
  /** `path`: path of the file's page. */
  readonly file: { readonly name: string; readonly path: string }
  readonly filled: { readonly reason: ReportReason | null; readonly text: string }
  /** Problem with the submitted form, or null. */
  readonly problem: ReportProblem | null
}

export type ReportProblem =
  | { readonly kind: 'no reason' | 'long text' }
  /** Seconds until a retry makes sense. */
  | { readonly kind: 'too many'; readonly retryAfter: number }

export interface AccountFormView {
  readonly kind: 'signIn' | 'code' | 'signUp' | 'welcome' | 'setPassword'
  /** Target of the form. */
  readonly action: string
  /** Path of this site to open afterwards. */
  readonly next: string
  /** The entered name. */
  readonly username: string
  /** Error of the last attempt, or null. */
  readonly error: { readonly code: ErrorCode; readonly retryAfter: number | null } | null
  /** OpenID Connect provider that people may sign in with, or null. */
  readonly oidc: { readonly name: string; readonly address: string } | null
  /** Whether anybody may create an account. */
  readonly canSignUp: boolean
  /** Whether passwords can be reset by mail. */
  readonly canReset: boolean
  /** Whether the password to sign in with was set just now. */
  readonly isPasswordSet: boolean
}

/** A page that a mail links to, or that requests a mail: the question, and the confirmation afterwards. */
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
  /** Target of the form, or null for a page without one. */
  readonly action: string | null
  /** Values for the placeholders in the texts. */
  readonly username: string
  readonly address: string
  readonly files: number
  readonly days: number
  /** Seconds until a retry makes sense, after too many attempts; else null. */
  readonly retryAfter: number | null
}

export interface ErrorPageView {
  readonly status: number
  readonly code: ErrorCode
  readonly reason: StorageReason | null
  /** Seconds until a retry makes sense, or null. */
  readonly retryAfter: number | null
  /** Path of the request, for a retry. */
  readonly path: string
}

/** Content of the API reference, from the OpenAPI document. */
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
  /** Required credentials, in words. */
  readonly access: string
  /** `place`: path, query or header. */
  readonly parameters: readonly (ReferenceField & { readonly place: string })[]
  readonly body: { readonly type: string; readonly fields: readonly ReferenceField[] } | null
  readonly answers: readonly {
    readonly status: string
    readonly description: string
    /** Media type; empty for a response without a body. */
    readonly type: string
    readonly fields: readonly ReferenceField[]
    /** JSON, or null. */
    readonly example: string | null
  }[]
  readonly errors: readonly { readonly status: string; readonly description: string }[]
  /** The request as a curl command. */
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

export interface GuidePageView {
  readonly name: GuideName
  /** Absolute public address of this server, without a trailing slash. */
  readonly publicUrl: string
}

export interface FilesPageView {
  /** Absolute public address of this server, without a trailing slash. */
  readonly publicUrl: string
  /** Bytes. */
  readonly maxFileSize: number
}

export interface SettingsPageView {
  readonly section: SettingsSection
  readonly username: string
  /** Whether there are mail settings: the server sends mail, or the account has an address. */
  readonly hasMail: boolean
  /** Absolute public address of this server, without a trailing slash. */
  readonly publicUrl: string
}

export interface AdminPageView {
  readonly section: AdminSection
  /** Whether an invitation could be used. */
  readonly canInvite: boolean
}

/** A link that asks for files. Nothing of its folder is in it. */
export interface UploadLinkView {
  readonly slug: LinkSlug
  /** Name of the account that asks. */
  readonly owner: string
  readonly notice: LinkNotice
  readonly fields: AskedFields
  readonly types: readonly string[] | null
  /** Bytes that one file may have. */
  readonly maxFileSize: number
  /** Whether it takes no more. */
  readonly isFull: boolean
  /** How many files more it takes; null: no number is set. */
  readonly filesLeft: number | null
}

export interface StartPageView {
  /** Absolute public address of this server, without a trailing slash. */
  readonly publicUrl: string
  readonly guestUploads: boolean
  readonly isSignedIn: boolean
  /** Bytes. */
  readonly maxFileSize: number
  /** Days after which an unused file of whoever reads the page is deleted; null: never. */
  readonly inactiveDays: number | null
}
