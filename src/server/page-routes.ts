import { OIDC_CALLBACK } from '../accounts/sign-in/oidc.ts'
import { getLinkThumbnailEndpoint } from '../downloads/thumbnail.routes.ts'
import * as accountPages from '../pages/account-pages.ts'
import { finishOidc, startOidc } from '../pages/account-pages.ts'
import {
  getAdminPage,
  getAdminPageOf,
  getFilesPage,
  getFilesPageOf,
  getProvedPage,
  getSettingsPage,
  getSettingsPageOf,
} from '../pages/app-pages.ts'
import { getGuidePage, getReferencePage } from '../pages/docs-pages.ts'
import { getFilePage } from '../pages/file-page.ts'
import { getFolderPage } from '../pages/folder-page.ts'
import { postFolderPassword } from '../pages/folder-password.ts'
import { getLinkPage, getLinkTargetPage, postLinkDownload, postLinkPassword } from '../pages/link-page.ts'
import { forgottenPages, keepPages, unsubscribePages, verifyPages } from '../pages/mail-pages.ts'
import { getReceiptPage, postReceiptPage } from '../pages/receipt-page.ts'
import { getLinkReportPage, getReportPage, postLinkReport, postReport } from '../pages/report-page.ts'
import { getStartPage, postStartPage } from '../pages/start-page.ts'
import * as contributionsRoutes from '../sharing/links/contributions.routes.ts'
import * as uploadRoutes from '../uploads/upload.routes.ts'
import {
  anybody,
  FORM,
  guestOr,
  guestOrKey,
  NONE,
  OWN,
  ownPage,
  type Route,
  row,
  STREAM,
  TEXT,
} from './route.ts'

/** Rows of the table in `routes.ts`: pages, and raw uploads at their addresses. */
// biome-ignore format: a row is a line
export const pageRoutes: readonly Route[] = [
  row('get',     '/sign-in',                             anybody,                    OWN, NONE,     accountPages.signInPage.show),
  row('post',    '/sign-in',                             ownPage,                    OWN, FORM,     accountPages.signInPage.send),
  row('get',     '/sign-in/code',                        anybody,                    OWN, NONE,     accountPages.codePage.show),
  row('post',    '/sign-in/code',                        ownPage,                    OWN, FORM,     accountPages.codePage.send),
  row('get',     '/sign-up',                             anybody,                    OWN, NONE,     accountPages.signUpPage.show),
  row('post',    '/sign-up',                             ownPage,                    OWN, FORM,     accountPages.signUpPage.send),
  row('get',     '/sign-up/{token}',                     anybody,                    OWN, NONE,     accountPages.invitedPage.show),
  row('post',    '/sign-up/{token}',                     ownPage,                    OWN, FORM,     accountPages.invitedPage.send),
  row('get',     '/welcome/{token}',                     anybody,                    OWN, NONE,     accountPages.welcomePage.show),
  row('post',    '/welcome/{token}',                     ownPage,                    OWN, FORM,     accountPages.welcomePage.send),
  row('get',     '/set-password/{token}',                anybody,                    OWN, NONE,     accountPages.setPasswordPage.show),
  row('post',    '/set-password/{token}',                ownPage,                    OWN, FORM,     accountPages.setPasswordPage.send),
  row('get',     '/sign-in/forgotten',                   anybody,                    OWN, NONE,     forgottenPages.show),
  row('post',    '/sign-in/forgotten',                   anybody,                    OWN, FORM,     forgottenPages.send),
  row('get',     '/verify-mail/{token}',                 anybody,                    OWN, NONE,     verifyPages.show),
  row('post',    '/verify-mail/{token}',                 anybody,                    OWN, FORM,     verifyPages.send),
  row('get',     '/keep/{token}',                        anybody,                    OWN, NONE,     keepPages.show),
  row('post',    '/keep/{token}',                        anybody,                    OWN, FORM,     keepPages.send),
  row('get',     '/unsubscribe/{token}',                 anybody,                    OWN, NONE,     unsubscribePages.show),
  row('post',    '/unsubscribe/{token}',                 anybody,                    OWN, FORM,     unsubscribePages.send),
  row('post',    '/sign-out',                            ownPage,                    OWN, NONE,     accountPages.postSignOut),
  row('get',     '/sign-in/oidc',                        anybody,                    OWN, NONE,     startOidc),
  row('get',     OIDC_CALLBACK,                          anybody,                    OWN, NONE,     finishOidc),
  row('get',     '/sign-in/proved',                      anybody,                    OWN, NONE,     getProvedPage),
  row('get',     '/',                                    anybody,                    OWN, NONE,     getStartPage),
  row('post',    '/',                                    guestOr('upload'),          OWN, STREAM,   postStartPage),
  row('get',     '/d/{slug}',                            anybody,                    OWN, NONE,     getFilePage),
  row('get',     '/d/{slug}/report',                     anybody,                    OWN, NONE,     getReportPage),
  row('post',    '/d/{slug}/report',                     anybody,                    OWN, TEXT,     postReport),
  row('get',     '/files',                               anybody,                    OWN, NONE,     getFilesPage),
  row('get',     '/files/{identifier}',                  anybody,                    OWN, NONE,     getFilesPageOf),
  row('get',     '/settings',                            anybody,                    OWN, NONE,     getSettingsPage),
  row('get',     '/settings/{section}',                  anybody,                    OWN, NONE,     getSettingsPageOf),
  row('get',     '/admin',                               anybody,                    OWN, NONE,     getAdminPage),
  row('get',     '/admin/{section}',                     anybody,                    OWN, NONE,     getAdminPageOf),
  row('get',     '/f/{identifier}',                      anybody,                    OWN, NONE,     getFolderPage),
  row('post',    '/f/{identifier}',                      anybody,                    OWN, FORM,     postFolderPassword),
  row('get',     '/r/{receipt}',                         anybody,                    OWN, NONE,     getReceiptPage),
  row('post',    '/r/{receipt}',                         anybody,                    OWN, TEXT,     postReceiptPage),
  row('get',     '/l/{link}',                            anybody,                    OWN, NONE,     getLinkPage),
  row('post',    '/l/{link}',                            anybody,                    OWN, FORM,     postLinkPassword),
  row('put',     '/l/{link}',                            anybody,                    OWN, STREAM,   contributionsRoutes.putUnnamedContribution),
  row('put',     '/l/{link}/{target}',                   anybody,                    OWN, STREAM,   contributionsRoutes.putContribution),
  row('get',     '/l/{link}/{target}',                   anybody,                    OWN, NONE,     getLinkTargetPage),
  row('post',    '/l/{link}/{target}',                   anybody,                    OWN, FORM,     postLinkDownload),
  row('get',     '/l/{link}/{target}/report',            anybody,                    OWN, NONE,     getLinkReportPage),
  row('post',    '/l/{link}/{target}/report',            anybody,                    OWN, TEXT,     postLinkReport),
  row('get',     '/l/{link}/{target}/thumbnail',         anybody,                    OWN, NONE,     getLinkThumbnailEndpoint),
  row('get',     '/docs',                                anybody,                    OWN, NONE,     getReferencePage),
  row('get',     '/docs/{guide}',                        anybody,                    OWN, NONE,     getGuidePage),
  row('put',     '/',                                    guestOrKey('upload'),       OWN, STREAM,   uploadRoutes.putUnnamed),
  row('put',     '/{name}',                              guestOrKey('upload'),       OWN, STREAM,   uploadRoutes.putAtTop, { others: 'nothing' }),
]
