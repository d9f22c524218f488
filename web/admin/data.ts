import type { ReportReason } from '../../src/domain/report.ts'
import type { AdminTexts } from './texts.ts'

/** The pages of administration, each at an address of its own. */
export const ADMIN_SECTIONS = [
  'overview',
  'accounts',
  'reports',
  'files',
  'integrity',
  'jobs',
  'notice',
  'appearance',
  'settings',
  'doctor',
  'audit',
] as const

export type AdminSection = (typeof ADMIN_SECTIONS)[number]

export function adminPath(section: AdminSection): string {
  return section === 'overview' ? '/admin' : `/admin/${section}`
}

/** What the server tells the script of the page, as JSON in `#page-data`. */
export interface AdminPageData {
  readonly locale: string
  readonly texts: AdminTexts
  readonly section: AdminSection
  /** Whether an invitation would be of use. */
  readonly canInvite: boolean
  /** What people may have against a file. */
  readonly reasons: Readonly<Record<ReportReason, string>>
}

/** The element that the script fills. */
export const ADMIN_APP = 'admin-app'
