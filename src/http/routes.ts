import { getAccount, getRequests, getStorage } from './api/account.ts'
import { administrationRoutes } from './api/admin/routes.ts'
import { downloadFolder, signArchive } from './api/archives.ts'
import { deleteFromBin, emptyBin, listBin, putIntoBin, restoreFromBin } from './api/bin.ts'
import { watchEvents } from './api/events.ts'
import { deleteFiles, getFile, listFiles, moveFile, moveFiles, renameFile } from './api/files.ts'
import { listFolderFiles } from './api/folder-files.ts'
import { getFolder, listFolders, listSubfolders } from './api/folder-lists.ts'
import { changeFolder, createFolder, deleteFolders, moveFolder, moveFolders } from './api/folders.ts'
import { getHealth, getReadiness } from './api/health.ts'
import { createKey, listKeys, revokeKey } from './api/keys.ts'
import { getMetrics } from './api/metrics.ts'
import { getOpenApi } from './api/openapi.ts'
import { changeAccount, removeAccount } from './api/own-account.ts'
import { changeMail, getMail, removeMail, setMailAddress } from './api/own-mail.ts'
import {
  addPasskey,
  beginPasskey,
  beginPasskeySignIn,
  listPasskeys,
  proveByPasskey,
  removePasskey,
  renamePasskey,
  signInWithPasskey,
} from './api/passkeys.ts'
import { deleteByReceipt } from './api/receipts.ts'
import { reportFile } from './api/reports.ts'
import { beginCodes, confirmCodes, endCodes, renewRecoveryCodes } from './api/second-factor.ts'
import {
  endOtherSessions,
  endSession,
  getSession,
  listSessions,
  proveByPassword,
  signIn,
  signInWithCode,
  signOut,
} from './api/session.ts'
import { invite, makeFirstAdministrator, setPassword, signUp } from './api/sign-up.ts'
import { getUploadStatus, putAtTop, putUpload, uploadFile } from './api/upload.ts'
import { cancelUpload, listUploads } from './api/uploads.ts'
import { getArchive } from './content/archives.ts'
import { listPublicFolder } from './content/public-folder.ts'
import { getContent, signDownload, signView } from './content/routes.ts'
import { getThumbnail } from './content/thumbnail.ts'
import { aliasOf, type Route } from './route.ts'
import { accountPages, postSignOut } from './site/account-pages.ts'
import { getAdminPage, getAdminPageOf } from './site/admin-page.ts'
import { getGuidePage, getReferencePage } from './site/docs-pages.ts'
import { getFilePage } from './site/file-page.ts'
import { getFilesPage, getFilesPageOf } from './site/files-page.ts'
import { getFolderPage } from './site/folder-page.ts'
import { postFolderPassword } from './site/folder-password.ts'
import { forgottenPages, keepPages, unsubscribePages, verifyPages } from './site/mail-pages.ts'
import { finishOidc, startOidc } from './site/oidc.ts'
import { getProvedPage } from './site/proved-page.ts'
import { getReportPage, postReport } from './site/report-page.ts'
import { getSettingsPage, getSettingsPageOf } from './site/settings-page.ts'
import { getStartPage, postStartPage } from './site/start-page.ts'
import { tusRoutes } from './uploads/tus-routes.ts'

/** Every route of the server. The OpenAPI document and the authorization tests are made from this table. */
export const routes: readonly Route[] = [
  uploadFile,
  putUpload,
  deleteByReceipt,
  getUploadStatus,
  listUploads,
  cancelUpload,
  ...tusRoutes,
  listFiles,
  getFile,
  renameFile,
  moveFile,
  moveFiles,
  signArchive,
  deleteFiles,
  aliasOf(deleteFiles, '/api/v1/file/delete'),
  listFolders,
  createFolder,
  getFolder,
  changeFolder,
  listFolderFiles,
  listSubfolders,
  downloadFolder,
  moveFolder,
  moveFolders,
  deleteFolders,
  aliasOf(deleteFolders, '/api/v1/folder/delete'),
  putIntoBin,
  listBin,
  restoreFromBin,
  deleteFromBin,
  emptyBin,
  watchEvents,
  getAccount,
  getStorage,
  getRequests,
  listKeys,
  createKey,
  revokeKey,
  signUp,
  makeFirstAdministrator,
  setPassword,
  changeAccount,
  removeAccount,
  getMail,
  setMailAddress,
  changeMail,
  removeMail,
  beginCodes,
  confirmCodes,
  renewRecoveryCodes,
  endCodes,
  getSession,
  signIn,
  signInWithCode,
  signOut,
  proveByPassword,
  endSession,
  listSessions,
  endOtherSessions,
  listPasskeys,
  beginPasskey,
  addPasskey,
  renamePasskey,
  removePasskey,
  beginPasskeySignIn,
  signInWithPasskey,
  proveByPasskey,
  invite,
  ...administrationRoutes,
  getHealth,
  getReadiness,
  getMetrics,
  getOpenApi,
  signDownload,
  signView,
  listPublicFolder,
  reportFile,
  getContent,
  getArchive,
  getThumbnail,
  ...accountPages,
  ...forgottenPages,
  ...verifyPages,
  ...keepPages,
  ...unsubscribePages,
  postSignOut,
  startOidc,
  finishOidc,
  getProvedPage,
  getStartPage,
  postStartPage,
  getFilePage,
  getReportPage,
  postReport,
  getFilesPage,
  getFilesPageOf,
  getSettingsPage,
  getSettingsPageOf,
  getAdminPage,
  getAdminPageOf,
  getFolderPage,
  postFolderPassword,
  getReferencePage,
  getGuidePage,
  putAtTop,
]
