import type { Route } from '../../route.ts'
import { changeAnyAccount, getAnyAccount, listAccounts, removeAnyAccount, resetAccount } from './accounts.ts'
import { listAudit } from './audit.ts'
import { listAllFiles } from './files.ts'
import { listJobs, listNodes, retryJob } from './jobs.ts'
import { clearNotice, getNotice, getShownNotice, setNotice } from './notice.ts'
import { dismissReport, getReport, listReports, takeReportedDown } from './reports.ts'
import { listSettings } from './settings.ts'
import { getStatistics } from './statistics.ts'
import { allowContent, listRefused, takeDown } from './take-downs.ts'

/** What administrators see and do, and what everybody sees of it. */
export const administrationRoutes: readonly Route[] = [
  listAccounts,
  getAnyAccount,
  changeAnyAccount,
  resetAccount,
  removeAnyAccount,
  getStatistics,
  listAllFiles,
  listJobs,
  retryJob,
  listNodes,
  listSettings,
  getNotice,
  setNotice,
  clearNotice,
  getShownNotice,
  listReports,
  getReport,
  dismissReport,
  takeReportedDown,
  takeDown,
  listRefused,
  allowContent,
  listAudit,
]
