import { createElement, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { PageAssets } from '../../web/manifest.ts'
import { createWords } from '../../web/shared/words.ts'
import { UNBRANDED } from '../domain/branding.ts'
import type { PageReader } from '../server/requests/browser.ts'
import type { Renderers } from './renderers.ts'
import { de } from './texts/de.ts'
import { en } from './texts/en.ts'
import { AccountFormPage } from './views/account-form.tsx'
import { AdminPage, FilesPage, SettingsPage } from './views/apps.tsx'
import { ArrivingPage } from './views/arriving.tsx'
import type { PageContext } from './views/context.ts'
import { GuidePage, ReferencePage } from './views/docs.tsx'
import { ErrorPage } from './views/error.tsx'
import { FilePageDocument } from './views/file.tsx'
import { withOnclick } from './views/file-item.tsx'
import { FolderPageDocument } from './views/folder.tsx'
import { LegalPageDocument } from './views/legal.tsx'
import { MailPage } from './views/mail.tsx'
import { PasswordPage } from './views/password.tsx'
import { ReceiptPage } from './views/receipt.tsx'
import { ReportedPage, ReportPage } from './views/report.tsx'
import { StartPage } from './views/start.tsx'
import { UploadLinkPage } from './views/upload-link.tsx'

const texts = { en, de }
/** Bounds the cache: browsers may send any number of locales. */
const MOST_LOCALES = 50

/** Entry point of the bundle that `npm run build` makes and servers load. */
export function createRenderers(assets: PageAssets): Renderers {
  const contexts = new Map<string, PageContext>()
  // Creating the Intl formatters takes longer than rendering a page.
  function localContext({ language, locale }: PageReader): PageContext {
    const known = contexts.get(locale)
    if (known !== undefined) return known
    const local = {
      language,
      texts: texts[language],
      words: createWords(locale, 'UTC'),
      locale,
      assets,
      username: null,
      account: null,
      publicUrl: null,
      notice: null,
      isAdmin: false,
      isUnsure: false,
      branding: UNBRANDED,
    }
    if (contexts.size < MOST_LOCALES) contexts.set(locale, local)
    return local
  }
  const contextOf = (reader: PageReader) => {
    const { username = null, account = null, publicUrl = null, notice = null, ...rest } = reader
    const { isAdmin = false, isUnsure = false, branding = UNBRANDED } = rest
    return { ...localContext(reader), username, account, publicUrl, isAdmin, notice, isUnsure, branding }
  }
  return {
    startPage: (view, reader) => page(createElement(StartPage, { view, context: contextOf(reader) })),
    uploadLinkPage: (view, reader) =>
      page(createElement(UploadLinkPage, { view, context: contextOf(reader) })),
    filePage: (view, reader) => page(createElement(FilePageDocument, { view, context: contextOf(reader) })),
    arrivingPage: (view, reader) => page(createElement(ArrivingPage, { view, context: contextOf(reader) })),
    filesPage: (view, reader) => page(createElement(FilesPage, { view, context: contextOf(reader) })),
    settingsPage: (view, reader) => page(createElement(SettingsPage, { view, context: contextOf(reader) })),
    adminPage: (view, reader) => page(createElement(AdminPage, { view, context: contextOf(reader) })),
    folderPage: (view, reader) =>
      withOnclick(page(createElement(FolderPageDocument, { view, context: contextOf(reader) }))),
    passwordPage: (view, reader) => page(createElement(PasswordPage, { view, context: contextOf(reader) })),
    receiptPage: (view, reader) => page(createElement(ReceiptPage, { view, context: contextOf(reader) })),
    reportPage: (view, reader) => page(createElement(ReportPage, { view, context: contextOf(reader) })),
    reportedPage: (filePath, reader) =>
      page(createElement(ReportedPage, { filePath, context: contextOf(reader) })),
    referencePage: (view, reader) => page(createElement(ReferencePage, { view, context: contextOf(reader) })),
    legalPage: (view, reader) => page(createElement(LegalPageDocument, { view, context: contextOf(reader) })),
    guidePage: (view, reader) => page(createElement(GuidePage, { view, context: contextOf(reader) })),
    accountForm: (view, reader) => page(createElement(AccountFormPage, { view, context: contextOf(reader) })),
    mailPage: (view, reader) => page(createElement(MailPage, { view, context: contextOf(reader) })),
    errorPage: (view, reader) => page(createElement(ErrorPage, { view, context: contextOf(reader) })),
  }
}

function page(element: ReactElement): string {
  return `<!doctype html>${renderToStaticMarkup(element)}`
}
