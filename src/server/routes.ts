import * as ownMailRoutes from '../accounts/account.routes.ts'
import {
  changeAccountEndpoint,
  getAccountEndpoint,
  getRequestsEndpoint,
  getStorageEndpoint,
  removeAccountEndpoint,
} from '../accounts/account.routes.ts'
import * as accountsRoutes from '../accounts/account-administration.routes.ts'
import { createKeyEndpoint, listKeysEndpoint, revokeKeyEndpoint } from '../accounts/keys.routes.ts'
import { OIDC_CALLBACK } from '../accounts/sign-in/oidc.ts'
import * as passkeysRoutes from '../accounts/sign-in/passkeys.routes.ts'
import * as secondFactorRoutes from '../accounts/sign-in/sign-in.routes.ts'
import * as sessionRoutes from '../accounts/sign-in/sign-in.routes.ts'
import * as signUpRoutes from '../accounts/sign-in/sign-in.routes.ts'
import { getFileCard, getFolderCard, getLinkCard } from '../downloads/card.routes.ts'
import { getContentEndpoint, signDownloadEndpoint, signViewEndpoint } from '../downloads/content.routes.ts'
import { listPublicFolderEndpoint } from '../downloads/public-folder.routes.ts'
import {
  getLinkThumbnailEndpoint,
  getReceiptThumbnailEndpoint,
  getThumbnailEndpoint,
} from '../downloads/thumbnail.routes.ts'
import {
  downloadFolderEndpoint,
  getArchiveEndpoint,
  signArchiveEndpoint,
} from '../downloads/zip/archives.routes.ts'
import { watchEventsEndpoint } from '../events/events.routes.ts'
import * as binRoutes from '../files/bin/bin.routes.ts'
import * as filesRoutes from '../files/files.routes.ts'
import * as foldersRoutes from '../files/folders/folders.routes.ts'
import {
  getFolderEndpoint,
  listFolderFilesEndpoint,
  listFoldersEndpoint,
  listSubfoldersEndpoint,
  setFolderThumbnailEndpoint,
} from '../files/folders/folders.routes.ts'
import * as noticeRoutes from '../operations/administration.routes.ts'
import {
  getStatisticsEndpoint,
  listAllFilesEndpoint,
  listAuditEndpoint,
  listJobsEndpoint,
  listNodesEndpoint,
  listSettingsEndpoint,
  retryJobEndpoint,
} from '../operations/administration.routes.ts'
import * as brandingRoutes from '../operations/branding.routes.ts'
import { examineEndpoint, probeEndpoint } from '../operations/doctor/probe.routes.ts'
import { getHealthEndpoint, getReadinessEndpoint } from '../operations/health.routes.ts'
import { getIntegrityEndpoint, listDamagedFilesEndpoint } from '../operations/integrity.routes.ts'
import { getMetricsEndpoint } from '../operations/metrics/metrics.routes.ts'
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
import { getLegalPage } from '../pages/legal-page.ts'
import { getLinkPage, getLinkTargetPage, postLinkDownload, postLinkPassword } from '../pages/link-page.ts'
import { forgottenPages, keepPages, unsubscribePages, verifyPages } from '../pages/mail-pages.ts'
import { getOembedEndpoint } from '../pages/oembed.routes.ts'
import { getReceiptPage, postReceiptPage } from '../pages/receipt-page.ts'
import { getLinkReportPage, getReportPage, postLinkReport, postReport } from '../pages/report-page.ts'
import { getSiteFile } from '../pages/site-files.ts'
import { getStartPage, postStartPage } from '../pages/start-page.ts'
import * as contributionsRoutes from '../sharing/links/contributions.routes.ts'
import * as linksRoutes from '../sharing/links/links.routes.ts'
import { linkLogEndpoint } from '../sharing/links/links.routes.ts'
import {
  changeByReceipt,
  claimByReceipt,
  deleteByReceipt,
  filesByReceipt,
  logByReceipt,
  lookByReceipt,
} from '../sharing/receipts.routes.ts'
import * as reportsRoutes from '../sharing/reports.routes.ts'
import {
  allowContentEndpoint,
  listRefusedEndpoint,
  reportFileEndpoint,
  takeDownEndpoint,
} from '../sharing/reports.routes.ts'
import { makeTransferEndpoint } from '../sharing/transfers.routes.ts'
import * as tus from '../uploads/resumable/tus.routes.ts'
import { cancelUpload, listUploads } from '../uploads/resumable/tus.routes.ts'
import * as uploadRoutes from '../uploads/upload.routes.ts'
import * as webhooksRoutes from '../webhooks/webhooks.routes.ts'
import { getOpenApiEndpoint } from './openapi/openapi-document.ts'
import {
  ANY,
  administrator,
  anybody,
  DATA,
  FIELDS,
  FORM,
  guestOr,
  guestOrBytes,
  guestOrKey,
  key,
  NONE,
  OWN,
  ownPage,
  PICTURE,
  type Route,
  row,
  STREAM,
  signedIn,
  TEXT,
} from './router.ts'

/**
 * Every route of the server: method, path, access, CORS, body limit, endpoint. Access checks, rate limits,
 * CORS, the OpenAPI document and the authorization tests derive from this table.
 */
// biome-ignore format: a row is a line
export const routes: readonly Route[] = [
  // Uploads
  row('post',    '/api/v1/upload',                       guestOr('upload'),          ANY, STREAM,   uploadRoutes.uploadFile),
  row('put',     '/api/v1/upload/{name}',                guestOrKey('upload'),       ANY, STREAM,   uploadRoutes.putUpload, { others: 'preflight' }),
  row('get',     '/api/v1/receipt/{receipt}',            anybody,                    ANY, NONE,     lookByReceipt),
  row('patch',   '/api/v1/receipt/{receipt}',            anybody,                    ANY, TEXT,     changeByReceipt),
  row('get',     '/api/v1/receipt/{receipt}/log',        anybody,                    ANY, NONE,     logByReceipt),
  row('get',     '/api/v1/receipt/{receipt}/files',      anybody,                    ANY, NONE,     filesByReceipt),
  row('delete',  '/api/v1/receipt/{receipt}',            anybody,                    ANY, NONE,     deleteByReceipt),
  row('post',    '/api/v1/receipt/{receipt}/claim',      key('upload'),              ANY, DATA,     claimByReceipt),
  row('get',     '/api/v1/upload/status',                key('upload'),              ANY, NONE,     uploadRoutes.getUploadStatus),
  row('get',     '/api/v1/uploads',                      key('read'),                ANY, NONE,     listUploads),
  row('post',    '/api/v1/upload/cancel',                key('manage'),              ANY, DATA,     cancelUpload),
  row('post',    '/api/v1/uploads',                      guestOr('upload'),          ANY, STREAM,   tus.startUpload),
  row('patch',   '/api/v1/uploads/{upload}',             guestOrBytes('upload'),     ANY, STREAM,   tus.patchUpload),
  row('get',     '/api/v1/uploads/{upload}',             guestOrBytes('upload'),     ANY, NONE,     tus.lookAtUpload),
  row('delete',  '/api/v1/uploads/{upload}',             guestOrBytes('upload'),     ANY, NONE,     tus.giveUpUpload),
  row('post',    '/api/v1/uploads/{upload}',             guestOrBytes('upload'),     ANY, STREAM,   tus.postToUpload),
  row('options', '/api/v1/uploads',                      anybody,                    ANY, NONE,     tus.uploadsCapabilities),
  row('options', '/api/v1/uploads/{upload}',             anybody,                    ANY, NONE,     tus.uploadCapabilities),

  // Files
  row('get',     '/api/v1/files',                        key('read'),                ANY, NONE,     filesRoutes.listFilesEndpoint),
  row('get',     '/api/v1/file/{id}',                    key('read'),                ANY, NONE,     filesRoutes.getFileEndpoint),
  row('patch',   '/api/v1/file/{id}',                    key('manage'),              ANY, DATA,     filesRoutes.renameFileEndpoint),
  row('post',    '/api/v1/file/move',                    key('manage'),              ANY, DATA,     filesRoutes.moveFileEndpoint),
  row('post',    '/api/v1/files/move',                   key('manage'),              ANY, DATA,     filesRoutes.moveFilesEndpoint),
  row('post',    '/api/v1/files/download',               key('read'),                ANY, DATA,     signArchiveEndpoint),
  row('post',    '/api/v1/file/delete',                  key('manage'),              ANY, DATA,     filesRoutes.deleteFilesEndpoint),
  row('post',    '/file/delete',                         key('manage'),              ANY, DATA,     filesRoutes.deleteFilesEndpoint),

  // Folders
  row('get',     '/api/v1/folders',                      key('read'),                ANY, NONE,     listFoldersEndpoint),
  row('post',    '/api/v1/folder',                       key('upload'),              ANY, DATA,     foldersRoutes.createFolderEndpoint),
  row('get',     '/api/v1/folder/{identifier}',          key('read'),                ANY, NONE,     getFolderEndpoint),
  row('patch',   '/api/v1/folder/{identifier}',          key('manage'),              ANY, DATA,     foldersRoutes.changeFolderEndpoint),
  row('get',     '/api/v1/folder/{identifier}/files',    key('read'),                ANY, NONE,     listFolderFilesEndpoint),
  row('get',     '/api/v1/folder/{identifier}/folders',  key('read'),                ANY, NONE,     listSubfoldersEndpoint),
  row('get',     '/api/v1/folder/{identifier}/download', key('read'),                ANY, NONE,     downloadFolderEndpoint),
  row('post',    '/api/v1/folder/thumbnail',             key('manage'),              ANY, PICTURE,  setFolderThumbnailEndpoint),
  row('post',    '/api/v1/folder/move',                  key('manage'),              ANY, DATA,     foldersRoutes.moveFolderEndpoint),
  row('post',    '/api/v1/folders/move',                 key('manage'),              ANY, DATA,     foldersRoutes.moveFoldersEndpoint),
  row('post',    '/api/v1/folder/delete',                key('manage'),              ANY, DATA,     foldersRoutes.deleteFoldersEndpoint),
  row('post',    '/folder/delete',                       key('manage'),              ANY, DATA,     foldersRoutes.deleteFoldersEndpoint),

  // The bin
  row('post',    '/api/v1/bin',                          key('manage'),              ANY, DATA,     binRoutes.putIntoBinEndpoint),
  row('get',     '/api/v1/bin',                          key('read'),                ANY, NONE,     binRoutes.listBinEndpoint),
  row('post',    '/api/v1/bin/restore',                  key('manage'),              ANY, DATA,     binRoutes.restoreFromBinEndpoint),
  row('post',    '/api/v1/bin/delete',                   key('manage'),              ANY, DATA,     binRoutes.deleteFromBinEndpoint),
  row('delete',  '/api/v1/bin',                          key('manage'),              ANY, NONE,     binRoutes.emptyBinEndpoint),

  // Made links
  row('post',    '/api/v1/links',                        key('manage'),              ANY, DATA,     linksRoutes.makeLinkEndpoint),
  row('get',     '/api/v1/links',                        key('read'),                ANY, NONE,     linksRoutes.listLinksEndpoint),
  row('get',     '/api/v1/links/{link}',                 key('read'),                ANY, NONE,     linksRoutes.getLinkEndpoint),
  row('patch',   '/api/v1/links/{link}',                 key('manage'),              ANY, DATA,     linksRoutes.changeLinkEndpoint),
  row('delete',  '/api/v1/links/{link}',                 key('manage'),              ANY, NONE,     linksRoutes.revokeLinkEndpoint),
  row('get',     '/api/v1/links/{link}/log',             key('read'),                ANY, NONE,     linkLogEndpoint),
  row('get',     '/api/v1/links/{link}/contributions',   key('read'),                ANY, NONE,     contributionsRoutes.listContributionsEndpoint),
  row('post',    '/api/v1/transfers',                    guestOr('upload'),          ANY, DATA,     makeTransferEndpoint),
  row('post',    '/api/v1/receipts/link',                anybody,                    ANY, DATA,     linksRoutes.makeGuestLinkEndpoint),
  row('post',    '/api/v1/links/{link}/upload',          anybody,                    ANY, STREAM,   contributionsRoutes.postContribution),
  row('post',    '/api/v1/links/{link}/uploads',         anybody,                    ANY, STREAM,   contributionsRoutes.startContribution),

  // Webhooks
  row('get',     '/api/v1/webhooks',                     key('manage'),              ANY, NONE,     webhooksRoutes.listWebhooksEndpoint),
  row('post',    '/api/v1/webhooks',                     key('manage'),              ANY, DATA,     webhooksRoutes.addWebhookEndpoint),
  row('get',     '/api/v1/webhooks/{id}',                key('manage'),              ANY, NONE,     webhooksRoutes.getWebhookEndpoint),
  row('patch',   '/api/v1/webhooks/{id}',                key('manage'),              ANY, DATA,     webhooksRoutes.changeWebhookEndpoint),
  row('delete',  '/api/v1/webhooks/{id}',                key('manage'),              ANY, NONE,     webhooksRoutes.removeWebhookEndpoint),
  row('post',    '/api/v1/webhooks/{id}/test',           key('manage'),              ANY, NONE,     webhooksRoutes.testWebhookEndpoint),
  row('get',     '/api/v1/webhooks/{id}/deliveries',     key('manage'),              ANY, NONE,     webhooksRoutes.listDeliveriesEndpoint),
  row('post',    '/api/v1/webhooks/{id}/deliveries/{delivery}/replay', key('manage'), ANY, NONE,    webhooksRoutes.replayDeliveryEndpoint),

  // The account and its keys
  row('get',     '/api/v1/events',                       key('read'),                ANY, NONE,     watchEventsEndpoint),
  row('get',     '/api/v1/account',                      key('any'),                 ANY, NONE,     getAccountEndpoint),
  row('get',     '/api/v1/account/storage',              key('read'),                ANY, NONE,     getStorageEndpoint),
  row('get',     '/api/v1/account/requests',             key('read'),                ANY, NONE,     getRequestsEndpoint),
  row('get',     '/api/v1/keys',                         key('manage'),              ANY, NONE,     listKeysEndpoint),
  row('post',    '/api/v1/key',                          key('manage'),              ANY, DATA,     createKeyEndpoint),
  row('delete',  '/api/v1/key/{id}',                     key('manage'),              ANY, NONE,     revokeKeyEndpoint),

  // Signing up, signing in, and what only the person may change
  row('post',    '/api/v1/account',                      ownPage,                    ANY, FIELDS,   signUpRoutes.signUpEndpoint),
  row('post',    '/api/v1/account/first',                ownPage,                    ANY, FIELDS,   signUpRoutes.makeFirstAdministratorEndpoint),
  row('post',    '/api/v1/account/password',             ownPage,                    ANY, FIELDS,   signUpRoutes.setPasswordEndpoint),
  row('patch',   '/api/v1/account',                      signedIn,                    ANY, DATA,     changeAccountEndpoint),
  row('post',    '/api/v1/account/delete',               signedIn,                    ANY, DATA,     removeAccountEndpoint),
  row('get',     '/api/v1/account/mail',                 signedIn,                    ANY, NONE,     ownMailRoutes.getMailEndpoint),
  row('post',    '/api/v1/account/mail',                 signedIn,                    ANY, DATA,     ownMailRoutes.setMailAddressEndpoint),
  row('patch',   '/api/v1/account/mail',                 signedIn,                    ANY, DATA,     ownMailRoutes.changeMailEndpoint),
  row('post',    '/api/v1/account/mail/delete',          signedIn,                    ANY, DATA,     ownMailRoutes.removeMailEndpoint),
  row('post',    '/api/v1/account/codes',                signedIn,                    ANY, DATA,     secondFactorRoutes.beginCodesEndpoint),
  row('post',    '/api/v1/account/codes/confirm',        signedIn,                    ANY, DATA,     secondFactorRoutes.confirmCodesEndpoint),
  row('post',    '/api/v1/account/codes/recovery',       signedIn,                    ANY, DATA,     secondFactorRoutes.renewRecoveryCodesEndpoint),
  row('post',    '/api/v1/account/codes/delete',         signedIn,                    ANY, DATA,     secondFactorRoutes.endCodesEndpoint),
  row('get',     '/api/v1/session',                      signedIn,                    ANY, NONE,     sessionRoutes.getSessionEndpoint),
  row('post',    '/api/v1/session',                      ownPage,                    ANY, FIELDS,   sessionRoutes.signInEndpoint),
  row('post',    '/api/v1/session/code',                 ownPage,                    ANY, FIELDS,   sessionRoutes.signInWithCodeEndpoint),
  row('delete',  '/api/v1/session',                      ownPage,                    ANY, NONE,     sessionRoutes.signOutEndpoint),
  row('post',    '/api/v1/session/proof',                signedIn,                    ANY, DATA,     sessionRoutes.proveByPasswordEndpoint),
  row('delete',  '/api/v1/session/{id}',                 signedIn,                    ANY, NONE,     sessionRoutes.endSessionEndpoint),
  row('get',     '/api/v1/sessions',                     signedIn,                    ANY, NONE,     sessionRoutes.listSessionsEndpoint),
  row('delete',  '/api/v1/sessions',                     signedIn,                    ANY, NONE,     sessionRoutes.endOtherSessionsEndpoint),
  row('get',     '/api/v1/passkeys',                     signedIn,                    ANY, NONE,     passkeysRoutes.listPasskeysEndpoint),
  row('post',    '/api/v1/passkeys/options',             signedIn,                    ANY, DATA,     passkeysRoutes.beginPasskeyEndpoint),
  row('post',    '/api/v1/passkeys',                     signedIn,                    ANY, DATA,     passkeysRoutes.addPasskeyEndpoint),
  row('patch',   '/api/v1/passkey/{id}',                 signedIn,                    ANY, DATA,     passkeysRoutes.renamePasskeyEndpoint),
  row('delete',  '/api/v1/passkey/{id}',                 signedIn,                    ANY, NONE,     passkeysRoutes.removePasskeyEndpoint),
  row('post',    '/api/v1/session/passkey/options',      ownPage,                    ANY, NONE,     passkeysRoutes.beginPasskeySignInEndpoint),
  row('post',    '/api/v1/session/passkey',              ownPage,                    ANY, TEXT,     passkeysRoutes.signInWithPasskeyEndpoint),
  row('post',    '/api/v1/session/proof/passkey',        signedIn,                    ANY, DATA,     passkeysRoutes.proveByPasskeyEndpoint),
  row('post',    '/api/v1/invitations',                  administrator,              ANY, NONE,     signUpRoutes.inviteEndpoint),

  // Administration
  row('get',     '/api/v1/admin/accounts',               administrator,              ANY, NONE,     accountsRoutes.listAccountsEndpoint),
  row('get',     '/api/v1/admin/account/{id}',           administrator,              ANY, NONE,     accountsRoutes.getAnyAccountEndpoint),
  row('patch',   '/api/v1/admin/account/{id}',           administrator,              ANY, DATA,     accountsRoutes.changeAnyAccountEndpoint),
  row('post',    '/api/v1/admin/account/{id}/reset',     administrator,              ANY, DATA,     accountsRoutes.resetAccountEndpoint),
  row('post',    '/api/v1/admin/account/{id}/delete',    administrator,              ANY, DATA,     accountsRoutes.removeAnyAccountEndpoint),
  row('get',     '/api/v1/admin/statistics',             administrator,              ANY, NONE,     getStatisticsEndpoint),
  row('get',     '/api/v1/admin/files',                  administrator,              ANY, NONE,     listAllFilesEndpoint),
  row('get',     '/api/v1/admin/jobs',                   administrator,              ANY, NONE,     listJobsEndpoint),
  row('post',    '/api/v1/admin/jobs/retry',             administrator,              ANY, DATA,     retryJobEndpoint),
  row('get',     '/api/v1/admin/integrity',              administrator,              ANY, NONE,     getIntegrityEndpoint),
  row('get',     '/api/v1/admin/damaged',                administrator,              ANY, NONE,     listDamagedFilesEndpoint),
  row('post',    '/api/v1/admin/doctor',                 administrator,              ANY, NONE,     examineEndpoint),
  row('get',     '/api/v1/admin/nodes',                  administrator,              ANY, NONE,     listNodesEndpoint),
  row('get',     '/api/v1/admin/settings',               administrator,              ANY, NONE,     listSettingsEndpoint),
  row('get',     '/api/v1/admin/notice',                 administrator,              ANY, NONE,     noticeRoutes.getNoticeEndpoint),
  row('post',    '/api/v1/admin/notice',                 administrator,              ANY, DATA,     noticeRoutes.setNoticeEndpoint),
  row('delete',  '/api/v1/admin/notice',                 administrator,              ANY, NONE,     noticeRoutes.clearNoticeEndpoint),
  row('get',     '/api/v1/admin/branding',               administrator,              ANY, NONE,     brandingRoutes.getBrandingEndpoint),
  row('patch',   '/api/v1/admin/branding',               administrator,              ANY, DATA,     brandingRoutes.changeBrandingEndpoint),
  row('post',    '/api/v1/admin/branding/logo',          administrator,              ANY, PICTURE,  brandingRoutes.setLogoEndpoint),
  row('delete',  '/api/v1/admin/branding/logo',          administrator,              ANY, NONE,     brandingRoutes.removeLogoEndpoint),
  row('get',     '/api/v1/notice',                       anybody,                    ANY, NONE,     noticeRoutes.getShownNoticeEndpoint),
  row('get',     '/api/v1/admin/reports',                administrator,              ANY, NONE,     reportsRoutes.listReportsEndpoint),
  row('get',     '/api/v1/admin/report/{id}',            administrator,              ANY, NONE,     reportsRoutes.getReportEndpoint),
  row('post',    '/api/v1/admin/report/{id}/dismiss',    administrator,              ANY, NONE,     reportsRoutes.dismissReportEndpoint),
  row('post',    '/api/v1/admin/report/{id}/take-down',  administrator,              ANY, NONE,     reportsRoutes.takeReportedDownEndpoint),
  row('post',    '/api/v1/admin/take-down',              administrator,              ANY, DATA,     takeDownEndpoint),
  row('get',     '/api/v1/admin/refused',                administrator,              ANY, NONE,     listRefusedEndpoint),
  row('delete',  '/api/v1/admin/refused/{sha256}',       administrator,              ANY, NONE,     allowContentEndpoint),
  row('get',     '/api/v1/admin/audit',                  administrator,              ANY, NONE,     listAuditEndpoint),

  // Health
  row('get',     '/health',                              anybody,                    ANY, NONE,     getHealthEndpoint, { host: 'any' }),
  row('get',     '/ready',                               anybody,                    ANY, NONE,     getReadinessEndpoint, { host: 'any' }),
  row('get',     '/api/v1/probe',                        anybody,                    OWN, NONE,     probeEndpoint),
  row('put',     '/api/v1/probe',                        anybody,                    OWN, STREAM,   probeEndpoint),
  row('patch',   '/api/v1/probe',                        anybody,                    OWN, STREAM,   probeEndpoint),
  row('get',     '/metrics',                             anybody,                    OWN, NONE,     getMetricsEndpoint),
  row('get',     '/api/v1/openapi.json',                 anybody,                    ANY, NONE,     getOpenApiEndpoint),

  // Public links
  row('post',    '/v2/api/public/download',              anybody,                    ANY, FIELDS,   signDownloadEndpoint),
  row('post',    '/v2/api/public/view',                  anybody,                    ANY, FIELDS,   signViewEndpoint),
  row('post',    '/v2/api/public/folder',                anybody,                    ANY, FIELDS,   listPublicFolderEndpoint),
  row('post',    '/api/v1/file/report',                  anybody,                    ANY, TEXT,     reportFileEndpoint),
  row('get',     '/v2/{file}',                           anybody,                    ANY, NONE,     getContentEndpoint, { host: 'content' }),
  row('get',     '/z/{token}',                           anybody,                    ANY, NONE,     getArchiveEndpoint, { host: 'content' }),
  row('get',     '/t/{uuid}',                            anybody,                    OWN, NONE,     getThumbnailEndpoint, { host: 'any' }),

  // Pages
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
  row('get',     '/d/{slug}/card.jpg',                   anybody,                    OWN, NONE,     getFileCard),
  row('get',     '/d/{slug}/report',                     anybody,                    OWN, NONE,     getReportPage),
  row('post',    '/d/{slug}/report',                     anybody,                    OWN, TEXT,     postReport),
  row('get',     '/files',                               anybody,                    OWN, NONE,     getFilesPage),
  row('get',     '/files/{identifier}',                  anybody,                    OWN, NONE,     getFilesPageOf),
  row('get',     '/settings',                            anybody,                    OWN, NONE,     getSettingsPage),
  row('get',     '/settings/{section}',                  anybody,                    OWN, NONE,     getSettingsPageOf),
  row('get',     '/admin',                               anybody,                    OWN, NONE,     getAdminPage),
  row('get',     '/admin/{section}',                     anybody,                    OWN, NONE,     getAdminPageOf),
  row('get',     '/f/{identifier}',                      anybody,                    OWN, NONE,     getFolderPage),
  row('get',     '/f/{identifier}/card.jpg',             anybody,                    OWN, NONE,     getFolderCard),
  row('post',    '/f/{identifier}',                      anybody,                    OWN, FORM,     postFolderPassword),
  row('get',     '/r/{receipt}',                         anybody,                    OWN, NONE,     getReceiptPage),
  row('post',    '/r/{receipt}',                         anybody,                    OWN, TEXT,     postReceiptPage),
  row('get',     '/r/{receipt}/{target}/thumbnail',      anybody,                    OWN, NONE,     getReceiptThumbnailEndpoint),
  row('get',     '/l/{link}',                            anybody,                    OWN, NONE,     getLinkPage),
  row('post',    '/l/{link}',                            anybody,                    OWN, FORM,     postLinkPassword),
  row('put',     '/l/{link}',                            anybody,                    OWN, STREAM,   contributionsRoutes.putUnnamedContribution),
  row('put',     '/l/{link}/{target}',                   anybody,                    OWN, STREAM,   contributionsRoutes.putContribution),
  row('get',     '/l/{link}/{target}',                   anybody,                    OWN, NONE,     getLinkTargetPage),
  row('post',    '/l/{link}/{target}',                   anybody,                    OWN, FORM,     postLinkDownload),
  row('get',     '/l/{link}/{target}/report',            anybody,                    OWN, NONE,     getLinkReportPage),
  row('post',    '/l/{link}/{target}/report',            anybody,                    OWN, TEXT,     postLinkReport),
  row('get',     '/l/{link}/{target}/thumbnail',         anybody,                    OWN, NONE,     getLinkThumbnailEndpoint),
  row('get',     '/branding/{name}',                     anybody,                    OWN, NONE,     brandingRoutes.getBrandingFileEndpoint),
  row('get',     '/legal/{page}',                        anybody,                    OWN, NONE,     getLegalPage),
  row('get',     '/l/{link}/{target}/card.jpg',          anybody,                    OWN, NONE,     getLinkCard),
  row('get',     '/oembed',                              anybody,                    ANY, NONE,     getOembedEndpoint),
  row('get',     '/docs',                                anybody,                    OWN, NONE,     getReferencePage),
  row('get',     '/docs/{guide}',                        anybody,                    OWN, NONE,     getGuidePage),
  row('get',     '/{name}',                              anybody,                    OWN, NONE,     getSiteFile, { others: 'nothing' }),
  row('put',     '/',                                    guestOrKey('upload'),       OWN, STREAM,   uploadRoutes.putUnnamed),
  row('put',     '/{name}',                              guestOrKey('upload'),       OWN, STREAM,   uploadRoutes.putAtTop, { others: 'nothing' }),
]
