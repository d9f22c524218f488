import {
  type AdminAccount,
  type AdminAccountDetail,
  type AnyFile,
  adminAccountAnswer,
  adminAccountChangedAnswer,
  adminAccountsAnswer,
  allFilesAnswer,
  type DamagedFile,
  damagedFilesAnswer,
  type OneTimeLink,
  oneTimeLinkAnswer,
  type RefusedContent,
  type Report,
  refusedContentsAnswer,
  reportsAnswer,
  type TakenDown,
  takenDownAnswer,
} from '../../src/contract/administration.ts'
import { type Branding, brandingAnswer } from '../../src/contract/branding.ts'
import { done } from '../../src/contract/fields.ts'
import { type Notice, noticeAnswer } from '../../src/contract/notice.ts'
import {
  type Diagnosis,
  diagnosisAnswer,
  type Integrity,
  integrityAnswer,
  type Jobs,
  jobsAnswer,
  type Node,
  nodesAnswer,
  type SettingInForce,
  type Statistics,
  settingsAnswer,
  statisticsAnswer,
} from '../../src/contract/operations.ts'
import type { AccountSort, AccountState, AllFilesSort, DamagedFileState } from '../../src/domain/account.ts'
import type { Act } from '../../src/domain/audit.ts'
import { fetchJson, jsonRequest } from '../shared/fetch-json.ts'
import { auditRecordsAnswer, type ShownAuditRecord } from './audit-records.ts'
import type { Page } from './lists/paged.ts'

/** Every call that administration makes. All throw RequestFailure. Pages are counted from 1. */

const ADMIN = '/api/v1/admin'

/** The address with what is wanted of it after the question mark. */
function asked(path: string, query: Readonly<Record<string, string | number>>): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  return `${ADMIN}/${path}?${new URLSearchParams(parameters)}`
}

/** The oldest day first; the last one is today. */
export async function fetchStatistics(days: number): Promise<Statistics> {
  return (await fetchJson(statisticsAnswer, asked('statistics', { days }))).data
}

export interface AccountsQuery {
  /** Part of the name, or empty. */
  readonly search: string
  readonly state: AccountState
  readonly sort: AccountSort
}

/** Names from a on, all else from the most on. */
export function fetchAccounts(query: AccountsQuery, page: number): Promise<Page<AdminAccount>> {
  const { search, ...rest } = query
  const order = query.sort === 'username' ? 'asc' : 'desc'
  return fetchJson(
    adminAccountsAnswer,
    asked('accounts', { ...rest, ...(search === '' ? {} : { search }), order, page }),
  )
}

export async function fetchAnyAccount(id: number): Promise<AdminAccountDetail> {
  return (await fetchJson(adminAccountAnswer, `${ADMIN}/account/${id}`)).data
}

export interface AccountChangeFields {
  /** Bytes; null: as much as the setting says. */
  readonly quota?: number | null
  /** Days; 0: never; null: as many as the setting says. */
  readonly inactive_days?: number | null
  readonly disabled?: boolean
  readonly is_admin?: boolean
}

export async function changeAccount({ id }: AdminAccount, change: AccountChangeFields): Promise<void> {
  await fetchJson(adminAccountChangedAnswer, `${ADMIN}/account/${id}`, jsonRequest('PATCH', change))
}

/** What a reset takes away besides the password and all sessions. */
export interface ResetOptions {
  /** Codes and passkeys. */
  readonly second_factor: boolean
  readonly mail_address: boolean
}

export async function resetAccount({ id }: AdminAccount, body: ResetOptions): Promise<OneTimeLink> {
  return (await fetchJson(oneTimeLinkAnswer, `${ADMIN}/account/${id}/reset`, jsonRequest('POST', body))).data
}

export async function removeAnyAccount({ id }: AdminAccount, username: string): Promise<void> {
  await fetchJson(done, `${ADMIN}/account/${id}/delete`, jsonRequest('POST', { username }))
}

export async function invite(): Promise<OneTimeLink> {
  return (await fetchJson(oneTimeLinkAnswer, '/api/v1/invitations', { method: 'POST' })).data
}

export type WhichReports = 'open' | 'closed' | 'all'

export function fetchReports(state: WhichReports, page: number): Promise<Page<Report>> {
  return fetchJson(reportsAnswer, asked('reports', { state, page }))
}

export async function dismissReport({ id }: Report): Promise<void> {
  await fetchJson(done, `${ADMIN}/report/${id}/dismiss`, { method: 'POST' })
}

export async function takeReportedDown({ id }: Report): Promise<TakenDown> {
  return (await fetchJson(takenDownAnswer, `${ADMIN}/report/${id}/take-down`, { method: 'POST' })).data
}

/** A file by its number, UUID or slug, or a content by its hash. */
export type TakeDownTarget = { readonly file: string } | { readonly sha256: string }

export async function takeDown(content: TakeDownTarget): Promise<TakenDown> {
  return (await fetchJson(takenDownAnswer, `${ADMIN}/take-down`, jsonRequest('POST', content))).data
}

export function fetchRefused(page: number): Promise<Page<RefusedContent>> {
  return fetchJson(refusedContentsAnswer, asked('refused', { page }))
}

export async function allowRefusedContent({ sha256 }: RefusedContent): Promise<void> {
  await fetchJson(done, `${ADMIN}/refused/${sha256}`, { method: 'DELETE' })
}

export function fetchFiles(sort: AllFilesSort, page: number): Promise<Page<AnyFile>> {
  return fetchJson(allFilesAnswer, asked('files', { sort, page }))
}

export async function fetchIntegrity(): Promise<Integrity> {
  return (await fetchJson(integrityAnswer, `${ADMIN}/integrity`)).data
}

export function fetchDamaged(state: DamagedFileState, page: number): Promise<Page<DamagedFile>> {
  return fetchJson(damagedFilesAnswer, asked('damaged', { state, page }))
}

export async function fetchJobs(): Promise<Jobs> {
  return (await fetchJson(jobsAnswer, `${ADMIN}/jobs`)).data
}

export async function retryFailedJob(job: string): Promise<void> {
  await fetchJson(done, `${ADMIN}/jobs/retry`, jsonRequest('POST', { job }))
}

export async function fetchNodes(): Promise<readonly Node[]> {
  return (await fetchJson(nodesAnswer, `${ADMIN}/nodes`)).data
}

export async function fetchSettings(): Promise<readonly SettingInForce[]> {
  return (await fetchJson(settingsAnswer, `${ADMIN}/settings`)).data
}

/** Takes some seconds. */
export async function examine(): Promise<Diagnosis> {
  return (await fetchJson(diagnosisAnswer, `${ADMIN}/doctor`, { method: 'POST' })).data
}

/** Also one that is not due yet, or over. */
export async function fetchNotice(): Promise<Notice | null> {
  return (await fetchJson(noticeAnswer, `${ADMIN}/notice`)).data.notice
}

export async function setNotice(wanted: Notice): Promise<void> {
  await fetchJson(noticeAnswer, `${ADMIN}/notice`, jsonRequest('POST', wanted))
}

export async function clearNotice(): Promise<void> {
  await fetchJson(done, `${ADMIN}/notice`, { method: 'DELETE' })
}

/** As it was set here, without what the settings say. */
export async function fetchBranding(): Promise<Branding> {
  return (await fetchJson(brandingAnswer, `${ADMIN}/branding`)).data
}

export async function changeBranding(wanted: Omit<Branding, 'logo_url'>): Promise<void> {
  await fetchJson(brandingAnswer, `${ADMIN}/branding`, jsonRequest('PATCH', wanted))
}

export async function setLogo(picture: File): Promise<void> {
  const body = new FormData()
  body.set('logo', picture)
  await fetchJson(brandingAnswer, `${ADMIN}/branding/logo`, { method: 'POST', body })
}

export async function removeLogo(): Promise<void> {
  await fetchJson(brandingAnswer, `${ADMIN}/branding/logo`, { method: 'DELETE' })
}

/** The latest first; null: whatever was done. */
export function fetchAudit(act: Act | null, page: number): Promise<Page<ShownAuditRecord>> {
  return fetchJson(auditRecordsAnswer, asked('audit', { ...(act === null ? {} : { act }), page }))
}
