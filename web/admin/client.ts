import type { AccountSort, AccountState, AllFilesSort } from '../../src/domain/administration.ts'
import type { Act } from '../../src/domain/audit.ts'
import { ask, sending } from '../files/ask.ts'
import {
  type Account,
  type AccountDetail,
  type AnyFile,
  account,
  accountDetail,
  accounts,
  audit,
  type Deed,
  done,
  files,
  type Jobs,
  jobs,
  type Node,
  type Notice,
  nodes,
  notice,
  type OneTimeLink,
  oneTimeLink,
  type Page,
  type Refused,
  type Report,
  refused,
  reports,
  type Setting,
  type Statistics,
  settings,
  statistics,
  type TakenDown,
  takenDown,
} from './shapes.ts'

/** Every call that administration makes. All throw RequestFailure. Pages are counted from 1. */

const ADMIN = '/api/v1/admin'

/** The address with what is wanted of it after the question mark. */
function asked(path: string, query: Readonly<Record<string, string | number>>): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  return `${ADMIN}/${path}?${new URLSearchParams(parameters)}`
}

/** The oldest day first; the last one is today. */
export async function fetchStatistics(days: number): Promise<Statistics> {
  return (await ask(statistics, asked('statistics', { days }))).data
}

export interface AccountsQuery {
  /** Part of the name, or empty. */
  readonly search: string
  readonly state: AccountState
  readonly sort: AccountSort
}

/** Names from a on, all else from the most on. */
export function fetchAccounts(query: AccountsQuery, page: number): Promise<Page<Account>> {
  const { search, ...rest } = query
  const order = query.sort === 'username' ? 'asc' : 'desc'
  return ask(accounts, asked('accounts', { ...rest, ...(search === '' ? {} : { search }), order, page }))
}

export async function fetchAccount(id: number): Promise<AccountDetail> {
  return (await ask(accountDetail, `${ADMIN}/account/${id}`)).data
}

export interface AccountChange {
  /** Bytes; null: as much as the setting says. */
  readonly quota?: number | null
  readonly disabled?: boolean
  readonly is_admin?: boolean
}

export async function changeAccount({ id }: Account, change: AccountChange): Promise<void> {
  await ask(account, `${ADMIN}/account/${id}`, sending('PATCH', change))
}

/** What a reset takes away besides the password and all sessions. */
export interface ResetBesides {
  /** Codes and passkeys. */
  readonly second_factor: boolean
  readonly mail_address: boolean
}

export async function resetAccount({ id }: Account, body: ResetBesides): Promise<OneTimeLink> {
  return (await ask(oneTimeLink, `${ADMIN}/account/${id}/reset`, sending('POST', body))).data
}

export async function removeAccount({ id }: Account, username: string): Promise<void> {
  await ask(done, `${ADMIN}/account/${id}/delete`, sending('POST', { username }))
}

export async function invite(): Promise<OneTimeLink> {
  return (await ask(oneTimeLink, '/api/v1/invitations', { method: 'POST' })).data
}

export type WhichReports = 'open' | 'closed' | 'all'

export function fetchReports(state: WhichReports, page: number): Promise<Page<Report>> {
  return ask(reports, asked('reports', { state, page }))
}

export async function dismissReport({ id }: Report): Promise<void> {
  await ask(done, `${ADMIN}/report/${id}/dismiss`, { method: 'POST' })
}

export async function takeReportedDown({ id }: Report): Promise<TakenDown> {
  return (await ask(takenDown, `${ADMIN}/report/${id}/take-down`, { method: 'POST' })).data
}

/** A file by its number, UUID or slug, or a content by its hash. */
export type Content = { readonly file: string } | { readonly sha256: string }

export async function takeDown(content: Content): Promise<TakenDown> {
  return (await ask(takenDown, `${ADMIN}/take-down`, sending('POST', content))).data
}

export function fetchRefused(page: number): Promise<Page<Refused>> {
  return ask(refused, asked('refused', { page }))
}

export async function allowContent({ sha256 }: Refused): Promise<void> {
  await ask(done, `${ADMIN}/refused/${sha256}`, { method: 'DELETE' })
}

export function fetchFiles(sort: AllFilesSort, page: number): Promise<Page<AnyFile>> {
  return ask(files, asked('files', { sort, page }))
}

export async function fetchJobs(): Promise<Jobs> {
  return (await ask(jobs, `${ADMIN}/jobs`)).data
}

export async function retryJob(job: string): Promise<void> {
  await ask(done, `${ADMIN}/jobs/retry`, sending('POST', { job }))
}

export async function fetchNodes(): Promise<readonly Node[]> {
  return (await ask(nodes, `${ADMIN}/nodes`)).data
}

export async function fetchSettings(): Promise<readonly Setting[]> {
  return (await ask(settings, `${ADMIN}/settings`)).data
}

/** Also one that is not due yet, or over. */
export async function fetchNotice(): Promise<Notice | null> {
  return (await ask(notice, `${ADMIN}/notice`)).data.notice
}

export async function setNotice(wanted: Notice): Promise<void> {
  await ask(notice, `${ADMIN}/notice`, sending('POST', wanted))
}

export async function clearNotice(): Promise<void> {
  await ask(done, `${ADMIN}/notice`, { method: 'DELETE' })
}

/** The latest first; null: whatever was done. */
export function fetchAudit(act: Act | null, page: number): Promise<Page<Deed>> {
  return ask(audit, asked('audit', { ...(act === null ? {} : { act }), page }))
}
