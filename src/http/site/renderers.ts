import type { Reader } from './language.ts'
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
} from './views.ts'

/**
 * Every function gives a whole HTML document in which all values are escaped. The documents hold no inline scripts;
 * what they load are the site's assets, thumbnails, and the signed address of a preview.
 */
export interface Renderers {
  startPage(view: StartPageView, reader: Reader): string
  filePage(view: FilePageView, reader: Reader): string
  /** The page of a file whose bytes are still coming: it tells nothing about the file. */
  arrivingPage(reader: Reader): string
  /** The file manager; its script asks for all that it shows. */
  filesPage(view: FilesPageView, reader: Reader): string
  /** A page of the settings; its script asks for all that it shows. */
  settingsPage(view: SettingsPageView, reader: Reader): string
  /** A page of administration; its script asks for all that it shows. */
  adminPage(view: AdminPageView, reader: Reader): string
  folderPage(view: FolderPageView, reader: Reader): string
  passwordPage(view: PasswordPageView, reader: Reader): string
  reportPage(view: ReportPageView, reader: Reader): string
  /** Says that a report is kept. `filePath`: of the page to go back to. */
  reportedPage(filePath: string, reader: Reader): string
  accountForm(view: AccountFormView, reader: Reader): string
  mailPage(view: MailPageView, reader: Reader): string
  errorPage(view: ErrorPageView, reader: Reader): string
  /** The reference of the API. */
  referencePage(view: ReferenceView, reader: Reader): string
  guidePage(view: GuidePageView, reader: Reader): string
}
