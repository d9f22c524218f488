import { createElement, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { ArrivingPage } from './pages/arriving.tsx'
import { ErrorPage } from './pages/error.tsx'
import { FilePage } from './pages/file.tsx'
import { withOnclick } from './pages/file-item.tsx'
import { FolderPage } from './pages/folder.tsx'
import { PasswordPage } from './pages/password.tsx'
import { StartPage } from './pages/start.tsx'
import type { ErrorPageView, FilePageView, FolderPageView, PasswordPageView, StartPageView } from './views.ts'

/*
 * Every function gives a whole HTML document in which all values are escaped. The documents hold no scripts and no
 * inline styles; what they load are the site's assets, thumbnails, and the signed address of a preview.
 */

export function renderFilePage(view: FilePageView): string {
  return page(createElement(FilePage, { view }))
}

/** The page of a file whose bytes are still coming: it tells nothing about the file. */
export function renderArrivingPage(): string {
  return page(createElement(ArrivingPage))
}

export function renderFolderPage(view: FolderPageView): string {
  return withOnclick(page(createElement(FolderPage, { view })))
}

export function renderPasswordPage(view: PasswordPageView): string {
  return page(createElement(PasswordPage, { view }))
}

export function renderErrorPage(view: ErrorPageView): string {
  return page(createElement(ErrorPage, { view }))
}

export function renderStartPage(view: StartPageView): string {
  return page(createElement(StartPage, { view }))
}

function page(element: ReactElement): string {
  return `<!doctype html>${renderToStaticMarkup(element)}`
}
