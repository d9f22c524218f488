import type { AdminSection } from '../../../web/admin/data.ts'
import type { AdminTexts } from '../../../web/admin/texts.ts'
import type { FileScriptTexts } from '../../../web/file/data.ts'
import type { FilesTexts } from '../../../web/files/texts.ts'
import type { SettingsSection } from '../../../web/settings/data.ts'
import type { SettingsTexts } from '../../../web/settings/texts.ts'
import type { Plural } from '../../../web/shared/words.ts'
import type { StartAppTexts } from '../../../web/uploads/texts.ts'
import type { ErrorCode, StorageReason } from '../../domain/errors.ts'
import type { IconKind } from '../../domain/icon-kind.ts'
import type { ReportReason } from '../../domain/report.ts'
import type { AskedField } from '../../domain/upload-terms.ts'
import type { GuideName } from '../guides.ts'
import type { AccountFormView, BarrierNotice, MailPageView } from '../views.ts'
import type { ReceiptTexts } from './receipt-texts.ts'

/**
 * All that the pages say, in one language. Texts are data, so that the browser may get them as JSON: `{name}` is a
 * place that `fill` of `web/shared/words.ts` puts a value in, and `Plural` a text that depends on a number.
 */
export interface Texts {
  readonly common: CommonTexts
  readonly start: StartTexts
  readonly file: FileTexts
  readonly madeLink: MadeLinkTexts
  readonly uploadLink: UploadLinkTexts
  readonly receipt: ReceiptTexts
  readonly folder: FolderTexts
  readonly files: FilesPageTexts
  readonly password: PasswordTexts
  readonly report: ReportTexts
  readonly docs: DocsTexts
  readonly account: AccountTexts
  readonly mail: MailTexts
  readonly settings: SettingsPageTexts
  readonly admin: AdminPageTexts
  readonly errors: ErrorTexts
}

/** The page of a link that asks for files. */
export interface UploadLinkTexts {
  /** {owner} */
  readonly title: string
  /** {owner} */
  readonly asks: string
  readonly unseen: string
  /** {kinds} */
  readonly kinds: string
  /** Media types as people call them. */
  readonly mediaTypes: Readonly<Record<'image/*' | 'video/*' | 'audio/*' | 'text/*', string>>
  readonly full: string
  readonly received: string
  readonly labels: Readonly<Record<AskedField, string>>
  /** {label} */
  readonly optional: string
  /** What it says instead of the start page. */
  readonly app: Partial<Omit<StartAppTexts, 'states' | 'earlier'>> & {
    readonly states: Partial<StartAppTexts['states']>
    readonly earlier: Partial<StartAppTexts['earlier']>
  }
}

export interface CommonTexts {
  readonly toStart: string
  /** What the administrators tell everybody. */
  readonly notice: string
  readonly tryAgain: string
  readonly showPassword: string
  readonly copyLink: string
  readonly copied: string
  readonly copyFailed: string
  /** What the owner is told of a link that does not open for everybody. `why`: {folder}. */
  readonly barriers: Readonly<
    Record<BarrierNotice['kind'], { readonly title: string; readonly why: string; readonly change: string }>
  >
  readonly files: Plural
  readonly folders: Plural
  readonly days: Plural
  readonly bytes: Plural
  readonly seconds: Plural
  readonly minutes: Plural
}

export interface StartTexts {
  readonly title: string
  readonly description: string
  readonly app: StartAppTexts
  /** {size} */
  readonly limit: string
  /** {days} */
  readonly expiry: string
  readonly terminal: string
  readonly terminalWithKey: string
  readonly copyCommand: string
  readonly signInNeeded: string
  readonly signInNeededWhy: string
}

export interface FileTexts {
  readonly download: string
  readonly details: string
  /** What a file is, in a word. */
  readonly kinds: Readonly<Record<IconKind, string>>
  /** For the owner. */
  readonly damaged: { readonly title: string; readonly message: string }
  /** {day} */
  readonly keptUntil: string
  readonly downloads: Plural
  readonly link: string
  readonly qrCode: string
  /** The text in a page of its own, for who has no scripts. */
  readonly open: string
  readonly verify: string
  readonly verifyWhy: string
  readonly arriving: string
  /** Instead of `arriving`. {minutes} */
  readonly arrivingStalled: string
  readonly arrivingWhy: string
  readonly arrivingDownload: string
  readonly arrivingDownloadWhy: string
  /** {received}, {size} */
  readonly arrived: string
  /** {size} */
  readonly arrivedAll: string
  /** {received} */
  readonly arrivedUnsized: string
  readonly script: FileScriptTexts
  readonly lookAgain: string
}

/** Of pages that are opened by a made link. */
export interface MadeLinkTexts {
  readonly message: string
  /** {moment}. */
  readonly ends: string
  /** Of a link with a limit: how many others may download it. */
  readonly left: Plural
  /** The same where nobody else may, and the visitor has begun. */
  readonly yours: string
  readonly noPreview: string
}

export interface FolderTexts {
  readonly downloadAll: string
  /** {size} */
  readonly downloadAllSize: string
  /** {size} */
  readonly inAll: string
  /** Leads past subfolders that fill pages. */
  readonly filesFollow: Plural
  readonly downloads: Plural
  /** The folders that this one is in. */
  readonly above: string
  readonly sortBy: string
  readonly sorts: Readonly<Record<'name' | 'size' | 'created_at' | 'downloads', string>>
  readonly orders: Readonly<Record<'asc' | 'desc', string>>
  readonly look: string
  readonly looks: Readonly<Record<'list' | 'gallery', string>>
  readonly folders: string
  readonly files: string
  readonly empty: string
  readonly passwordNeeded: string
  readonly pages: string
  readonly previousPage: string
  readonly nextPage: string
  /** {page}, {pages} */
  readonly pageOf: string
}

export interface FilesPageTexts {
  readonly title: string
  readonly scriptNeeded: string
  readonly scriptNeededWhy: string
  readonly app: FilesTexts
}

export interface PasswordTexts {
  readonly title: string
  readonly why: string
  readonly label: string
  readonly unlock: string
  readonly wrong: string
  /** {wait} */
  readonly tooMany: string
}

export interface ReportTexts {
  /** The link on the page of a file. */
  readonly link: string
  readonly title: string
  readonly why: string
  readonly reason: string
  readonly reasons: Readonly<Record<ReportReason, string>>
  readonly reasonMissing: string
  readonly text: string
  /** {count} */
  readonly textHint: string
  /** {count} */
  readonly textTooLong: string
  /** {wait} */
  readonly tooMany: string
  readonly send: string
  readonly thanks: string
  readonly thanksWhy: string
  readonly back: string
}

export interface DocsTexts {
  /** The link at the foot of the start page. */
  readonly link: string
  readonly title: string
  readonly why: string
  /** On the button beside a command. */
  readonly copy: string
  /** The pages of the documentation. */
  readonly pages: string
  readonly reference: string
  readonly guides: Readonly<Record<GuideName, string>>
}

export interface AccountTexts {
  readonly forms: Readonly<
    Record<AccountFormView['kind'], { readonly title: string; readonly why: string; readonly submit: string }>
  >
  readonly username: string
  readonly password: string
  readonly passwordSet: string
  readonly passwordHint: string
  readonly code: string
  readonly codeHint: string
  readonly passkey: string
  readonly passkeyFailed: string
  /** {count} */
  readonly claim: Plural
  /** {name} */
  readonly oidc: string
  readonly signOut: string
  readonly wrongPassword: string
  readonly wrongCode: string
  readonly nameTaken: string
  readonly nameWrong: string
  /** {wait} */
  readonly tooMany: string
}

export interface MailTexts {
  /** {username}, {address}, {files} and {days} in each. `submit` is null where nothing is asked. */
  readonly pages: Readonly<
    Record<
      MailPageView['kind'],
      { readonly title: string; readonly why: string; readonly submit: string | null }
    >
  >
  /** What {files} is made of. */
  readonly files: Plural
  readonly nameOrAddress: string
  readonly toSignIn: string
}

export interface SettingsPageTexts {
  readonly title: string
  /** Names the links to its pages. */
  readonly pages: string
  readonly sections: Readonly<Record<SettingsSection, string>>
  readonly app: SettingsTexts
}

export interface AdminPageTexts {
  readonly title: string
  /** Names the links to its pages. */
  readonly pages: string
  readonly sections: Readonly<Record<AdminSection, string>>
  readonly app: AdminTexts
}

export interface ErrorText {
  readonly title: string
  /** What happened and what to do. */
  readonly message: string
}

export interface ErrorTexts {
  readonly codes: Readonly<Record<ErrorCode, ErrorText>>
  /** Instead of STORAGE_UNAVAILABLE, for those causes of it. */
  readonly noSpace: Readonly<Record<Extract<StorageReason, 'full' | 'guests'>, ErrorText>>
  /** {wait} */
  readonly wait: string
  readonly wholeFile: string
}
