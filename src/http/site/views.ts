import type { Section as AdminSection } from '../../../web/admin/data.ts'
import type { PreviewKind } from '../../../web/file/data.ts'
import type { Section } from '../../../web/settings/data.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { ReportReason } from '../../domain/report.ts'
import type { FolderLook, FolderQuery } from './folder-query.ts'
import type { GuideName } from './guides.ts'

/** What the pages show. Routes fill these in; the components in `pages/` turn them into HTML and know nothing else. */

export interface FilePageView {
  readonly name: string
  readonly uuid: string
  /** Bytes. */
  readonly size: number
  readonly type: string
  /** ISO 8601 UTC. */
  readonly uploadedAt: string
  /** ISO 8601 UTC: when the file goes away if nobody looks at it. */
  readonly expiresAt: string
  readonly sha256: string
  readonly views: number
  readonly downloads: number
  /** Absolute address of this page. */
  readonly url: string
  /** Absolute address of the thumbnail; always an image. */
  readonly thumbnailUrl: string
  /** Leads to the bytes as an attachment. */
  readonly downloadUrl: string
  /** Path of the larger thumbnail, or null where there is none. */
  readonly pictureUrl: string | null
  /** null when the file is shown as its icon. */
  readonly preview: FilePreview | null
  /** The public folder that the file is in, or null. */
  readonly folder: { readonly name: string; readonly url: string } | null
  /** Leads to the form that reports the file; null for its owner. */
  readonly reportUrl: string | null
  /** For the owner: what keeps others from opening the link; null where nothing does, and for everybody else. */
  readonly barrier: Barrier | null
}

/** A folder that is for its owner alone, or that asks everybody else for a password. */
export interface Barrier {
  readonly kind: 'private' | 'password'
  /** The name of the folder. */
  readonly folder: string
  /** Where its owner changes that. */
  readonly manageUrl: string
}

export interface FilePreview {
  readonly kind: PreviewKind
  /** Signed address of the bytes for showing them in the page. */
  readonly url: string
  /** Whether a browser that is sent there shows them, rather than saving them. */
  readonly opens: boolean
  /** Of a picture that is large: its thumbnail, and a picture as large as a screen; else null. */
  readonly screen: { readonly thumbnailUrl: string; readonly url: string } | null
}

export interface FolderPageView {
  readonly name: string
  /** Absolute address of this page. */
  readonly url: string
  /** The folders above it, the outermost first. */
  readonly above: readonly { readonly name: string; readonly url: string }[]
  /** Those on this page. A count of null is not told: the folder has a password of its own. */
  readonly folders: readonly {
    readonly name: string
    readonly url: string
    readonly fileCount: number | null
  }[]
  /** Those on this page. */
  readonly files: readonly {
    readonly name: string
    readonly slug: string
    readonly size: number
    readonly type: string
    /** ISO 8601 UTC. */
    readonly createdAt: string
    readonly downloads: number
    /** Path of the thumbnail, or of the icon that many files share. */
    readonly thumbnailUrl: string
  }[]
  /** On all pages. */
  readonly folderCount: number
  readonly fileCount: number
  /** In it and in all below that the viewer may see; null when nobody has counted. */
  readonly totals: { readonly files: number; readonly bytes: number } | null
  readonly query: FolderQuery
  /** How the files are shown, asked for or not. */
  readonly look: FolderLook
  readonly pages: number
  /** Where the files begin. */
  readonly firstFilePage: number
  /** For the owner: what keeps others from opening the link; null where nothing does, and for everybody else. */
  readonly barrier: Barrier | null
}

export interface PasswordPageView {
  /** Where the form posts to: the page of the folder that is locked. */
  readonly action: string
  readonly nonce: string
  /** Where to go once it is unlocked; a path of this site. */
  readonly next: string
  /** What went wrong with the last try, or null. */
  readonly error: { readonly code: ErrorCode; readonly retryAfter: number | null } | null
}

export interface ReportPageView {
  /** `path`: that of its page. */
  readonly file: { readonly name: string; readonly path: string }
  readonly filled: { readonly reason: ReportReason | null; readonly text: string }
  /** What is wrong with what was sent, or null. */
  readonly problem: ReportProblem | null
}

export type ReportProblem =
  | { readonly kind: 'no reason' | 'long text' }
  /** Seconds until trying again makes sense. */
  | { readonly kind: 'too many'; readonly retryAfter: number }

export interface AccountFormView {
  readonly kind: 'signIn' | 'code' | 'signUp' | 'welcome' | 'setPassword'
  /** Where the form posts to. */
  readonly action: string
  /** Where to go afterwards; a path of this site. */
  readonly next: string
  /** What was filled in. */
  readonly username: string
  /** What went wrong with the last try, or null. */
  readonly error: { readonly code: ErrorCode; readonly retryAfter: number | null } | null
  /** Another server that people may sign in by, or null. */
  readonly oidc: { readonly name: string; readonly address: string } | null
  /** Whether anybody may make an account. */
  readonly canSignUp: boolean
  /** Whether who has forgotten their password gets a mail. */
  readonly canReset: boolean
}

/** What somebody is asked who comes from a mail, or wants one; and what is said once they have answered. */
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
    | 'nothingToKeep'
    | 'unsubscribe'
    | 'unsubscribed'
  /** Where the form posts to, or null where there is none. */
  readonly action: string | null
  /** What the texts have places for. */
  readonly username: string
  readonly address: string
  readonly files: number
  readonly days: number
  /** Seconds until trying again makes sense, for who has tried too often; else null. */
  readonly retryAfter: number | null
}

export interface ErrorPageView {
  readonly status: number
  readonly code: ErrorCode
  /** Seconds until trying again makes sense, or null. */
  readonly retryAfter: number | null
  /** The path that was asked for, and that can be asked for again. */
  readonly path: string
}

/** What the reference of the API shows of its OpenAPI document. */
export interface ReferenceView {
  readonly groups: readonly { readonly name: string; readonly operations: readonly ReferenceOperation[] }[]
  readonly schemas: readonly { readonly name: string; readonly fields: readonly ReferenceField[] }[]
}

export interface ReferenceOperation {
  /** For links to it. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  /** Who may ask, in words. */
  readonly access: string
  /** `place`: path, query or header. */
  readonly parameters: readonly (ReferenceField & { readonly place: string })[]
  readonly body: { readonly type: string; readonly fields: readonly ReferenceField[] } | null
  readonly answers: readonly {
    readonly status: string
    readonly description: string
    /** Media type; empty for an answer without a body. */
    readonly type: string
    readonly fields: readonly ReferenceField[]
    /** JSON, or null. */
    readonly example: string | null
  }[]
  readonly errors: readonly { readonly status: string; readonly description: string }[]
  /** The request as a command. */
  readonly curl: string
}

export interface ReferenceField {
  readonly name: string
  readonly type: ReferenceType
  readonly isRequired: boolean
  readonly description: string
}

/** `schema`: the named schema that it leads to, or null. */
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
  readonly section: Section
  readonly username: string
  /** Whether there is anything to set about mail: the server sends it, or the account has an address. */
  readonly hasMail: boolean
  /** Absolute public address of this server, without a trailing slash. */
  readonly publicUrl: string
}

export interface AdminPageView {
  readonly section: AdminSection
  /** Whether an invitation would be of use. */
  readonly canInvite: boolean
}

export interface StartPageView {
  /** Absolute public address of this server, without a trailing slash. */
  readonly publicUrl: string
  readonly guestUploads: boolean
  /** Bytes. */
  readonly maxFileSize: number
  readonly inactiveDays: number
}
