import type { PageReader } from '../server/requests/browser.ts'
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
  LegalPageView,
  MailPageView,
  PasswordPageView,
  ReferenceView,
  ReportPageView,
  SettingsPageView,
  StartPageView,
  UploadLinkView,
} from './views.ts'

/**
 * All values are escaped. Documents contain no inline scripts, and load only assets of the site, thumbnails,
 * and the signed address of a preview.
 */
export interface Renderers {
  startPage(view: StartPageView, reader: PageReader): string
  uploadLinkPage(view: UploadLinkView, reader: PageReader): string
  filePage(view: FilePageView, reader: PageReader): string
  arrivingPage(view: ArrivingPageView, reader: PageReader): string
  filesPage(view: FilesPageView, reader: PageReader): string
  settingsPage(view: SettingsPageView, reader: PageReader): string
  adminPage(view: AdminPageView, reader: PageReader): string
  folderPage(view: FolderPageView, reader: PageReader): string
  passwordPage(view: PasswordPageView, reader: PageReader): string
  receiptPage(view: ReceiptPageView, reader: PageReader): string
  reportPage(view: ReportPageView, reader: PageReader): string
  reportedPage(filePath: string, reader: PageReader): string
  accountForm(view: AccountFormView, reader: PageReader): string
  mailPage(view: MailPageView, reader: PageReader): string
  errorPage(view: ErrorPageView, reader: PageReader): string
  referencePage(view: ReferenceView, reader: PageReader): string
  legalPage(view: LegalPageView, reader: PageReader): string
  guidePage(view: GuidePageView, reader: PageReader): string
}
