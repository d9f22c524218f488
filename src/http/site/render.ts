import { createElement, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { PageAssets } from '../../../web/manifest.ts'
import { createWords } from '../../../web/shared/words.ts'
import type { Reader } from './language.ts'
import { AccountFormPage } from './pages/account-form.tsx'
import { AdminPage } from './pages/admin.tsx'
import { ArrivingPage } from './pages/arriving.tsx'
import type { PageContext } from './pages/context.ts'
import { GuidePage, ReferencePage } from './pages/docs.tsx'
import { ErrorPage } from './pages/error.tsx'
import { FilePage } from './pages/file.tsx'
import { withOnclick } from './pages/file-item.tsx'
import { FilesPage } from './pages/files.tsx'
import { FolderPage } from './pages/folder.tsx'
import { MailPage } from './pages/mail.tsx'
import { PasswordPage } from './pages/password.tsx'
import { ReportedPage, ReportPage } from './pages/report.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { StartPage } from './pages/start.tsx'
import type { Renderers } from './renderers.ts'
import { de } from './texts/de.ts'
import { en } from './texts/en.ts'

const texts = { en, de }
/** Browsers may ask for more than there are. */
const MOST_LOCALES = 50

/** `npm run build` bundles this module, and servers load it from there. */
export function createRenderers(assets: PageAssets): Renderers {
  const contexts = new Map<string, PageContext>()
  // What Intl needs for a locale takes longer to make than a page does.
  function localContext({ language, locale }: Reader): PageContext {
    const known = contexts.get(locale)
    if (known !== undefined) return known
    const local = {
      language,
      texts: texts[language],
      words: createWords(locale),
      locale,
      assets,
      username: null,
      notice: null,
      isAdmin: false,
      isUnsure: false,
    }
    if (contexts.size < MOST_LOCALES) contexts.set(locale, local)
    return local
  }
  const contextOf = (reader: Reader) => {
    const { username = null, isAdmin = false, notice = null, isUnsure = false } = reader
    return { ...localContext(reader), username, isAdmin, notice, isUnsure }
  }
  return {
    startPage: (view, reader) => page(createElement(StartPage, { view, context: contextOf(reader) })),
    filePage: (view, reader) => page(createElement(FilePage, { view, context: contextOf(reader) })),
    arrivingPage: (reader) => page(createElement(ArrivingPage, { context: contextOf(reader) })),
    filesPage: (view, reader) => page(createElement(FilesPage, { view, context: contextOf(reader) })),
    settingsPage: (view, reader) => page(createElement(SettingsPage, { view, context: contextOf(reader) })),
    adminPage: (view, reader) => page(createElement(AdminPage, { view, context: contextOf(reader) })),
    folderPage: (view, reader) =>
      withOnclick(page(createElement(FolderPage, { view, context: contextOf(reader) }))),
    passwordPage: (view, reader) => page(createElement(PasswordPage, { view, context: contextOf(reader) })),
    reportPage: (view, reader) => page(createElement(ReportPage, { view, context: contextOf(reader) })),
    reportedPage: (filePath, reader) =>
      page(createElement(ReportedPage, { filePath, context: contextOf(reader) })),
    referencePage: (view, reader) => page(createElement(ReferencePage, { view, context: contextOf(reader) })),
    guidePage: (view, reader) => page(createElement(GuidePage, { view, context: contextOf(reader) })),
    accountForm: (view, reader) => page(createElement(AccountFormPage, { view, context: contextOf(reader) })),
    mailPage: (view, reader) => page(createElement(MailPage, { view, context: contextOf(reader) })),
    errorPage: (view, reader) => page(createElement(ErrorPage, { view, context: contextOf(reader) })),
  }
}

function page(element: ReactElement): string {
  return `<!doctype html>${renderToStaticMarkup(element)}`
}
