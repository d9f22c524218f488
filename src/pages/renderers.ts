import type { PageReader } from '../server/requests/language.ts'
import type { ArrivingPageView } from './arriving-view.ts'
import type { ReceiptPageView } from './receipt-view.ts'
import type {
  AccountFormView,
  AdminPageView,
  ErrorPageView,
  FilePageView,
  FilesPageView,
  FolderPageView,
  GuidePageView,
  MailPageView,
  PasswordPageView,
  ReferenceView,
  ReportPageView,
  SettingsPageView,
  StartPageView,
  UploadLinkView,
} from './views.ts'

/**
 * Each function returns a complete HTML document in which all values are escaped. Documents contain no inline
 * scripts; they load assets of the site, thumbnails, and the signed address of a preview.
 */
export interface Renderers {
  startPage(view: StartPageView, reader: PageReader): string
  uploadLinkPage(view: UploadLinkView, reader: PageReader): string
  filePage(view: FilePageView, reader: PageReader): string
  /** The page of a file that is still being uploaded; says how much of it has come, and nothing else about the file. */
  arrivingPage(view: ArrivingPageView, reader: PageReader): string
  /** The file manager; its script requests the data. */
  filesPage(view: FilesPageView, reader: PageReader): string
  /** A settings page; its script requests the data. */
  settingsPage(view: SettingsPageView, reader: PageReader): string
  /** An administration page; its script requests the data. */
  adminPage(view: AdminPageView, reader: PageReader): string
  folderPage(view: FolderPageView, reader: PageReader): string
  passwordPage(view: PasswordPageView, reader: PageReader): string
  receiptPage(view: ReceiptPageView, reader: PageReader): string
  reportPage(view: ReportPageView, reader: PageReader): string
  /** Confirms a report. `filePath`: page of the file, to return to. */
  reportedPage(filePath: string, reader: PageReader): string
  accountForm(view: AccountFormView, reader: PageReader): string
  mailPage(view: MailPageView, reader: PageReader): string
  errorPage(view: ErrorPageView, reader: PageReader): string
  /** The API reference. */
  referencePage(view: ReferenceView, reader: PageReader): string
  guidePage(view: GuidePageView, reader: PageReader): string
}
