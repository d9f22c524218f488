import { doneWithMessage } from '../../../src/contract/fields.ts'
import {
  type Contribution,
  contributionsAnswer,
  type Link,
  type LinkDetail,
  type LinkEvent,
  linkAnswer,
  linkLogAnswer,
  linkMadeAnswer,
  linksAnswer,
} from '../../../src/contract/links.ts'
import { fetchJson, jsonRequest } from '../../shared/fetch-json.ts'
import { type Entry, filesOf, foldersOf } from '../entry.ts'
import type { UploadLimits } from './more-terms.tsx'

/** Links with terms. All throw RequestFailure. */

export interface ShareTerms {
  /** null: it does not end. */
  readonly endsAt: string | null
  /** null: any number. */
  readonly maxDownloads: number | null
  readonly password: string | null
  /** It takes files into the one folder, instead of opening it; null: it opens what is chosen. */
  readonly asks: ({ readonly forName: boolean } & UploadLimits) | null
  /** Shown on its page. */
  readonly name: string | null
  readonly message: string | null
  /** Its address; null: one that cannot be guessed. */
  readonly slug: string | null
}

export async function makeLink(
  entries: readonly Entry[],
  { endsAt, maxDownloads, asks, ...terms }: ShareTerms,
): Promise<LinkDetail> {
  const body = {
    files: filesOf(entries).map(({ uuid }) => uuid),
    folders: foldersOf(entries).map(({ id }) => id),
    ends_at: endsAt,
    max_downloads: maxDownloads,
    ...(asks === null ? {} : { uploads: uploadsOf(asks) }),
    ...terms,
  }
  return (await fetchJson(linkMadeAnswer, '/api/v1/links', jsonRequest('POST', body))).data
}

function uploadsOf({ forName, ...limits }: NonNullable<ShareTerms['asks']>) {
  return { fields: forName ? { sender: 'required' } : {}, ...limitsOf(limits) }
}

function limitsOf({ maxFiles, maxFileSize, types }: UploadLimits) {
  return { max_files: maxFiles, max_file_size: maxFileSize, types }
}

/** How many links the server answers at a time. */
const PAGE = 50

export async function fetchLinks(
  page: number,
): Promise<{ readonly links: readonly Link[]; readonly pages: number }> {
  const { data, pagination } = await fetchJson(linksAnswer, `/api/v1/links?page=${page}&per_page=${PAGE}`)
  return { links: data, pages: pagination.pages }
}

/** What is undefined stays as it is. */
export interface LinkChange {
  readonly name: string | null
  readonly message: string | null
  /** null takes it off. */
  readonly password: string | null | undefined
  /** null: it does not end. */
  readonly endsAt: string | null | undefined
  /** null: any number. */
  readonly maxDownloads: number | null | undefined
  /** Of a link that asks for files. */
  readonly limits: UploadLimits | undefined
}

export async function changeLink(
  { slug }: Link,
  { endsAt, maxDownloads, limits, ...change }: LinkChange,
): Promise<Link> {
  const body = {
    ...change,
    ends_at: endsAt,
    max_downloads: maxDownloads,
    uploads: limits === undefined ? undefined : limitsOf(limits),
  }
  return (await fetchJson(linkAnswer, `/api/v1/links/${slug}`, jsonRequest('PATCH', body))).data
}

/** What came by a link that takes uploads, newest first. */
export async function fetchContributions(
  { slug }: Link,
  page: number,
): Promise<{ readonly contributions: readonly Contribution[]; readonly pages: number }> {
  const path = `/api/v1/links/${slug}/contributions?page=${page}&per_page=${PAGE}`
  const { data, pagination } = await fetchJson(contributionsAnswer, path)
  return { contributions: data, pages: pagination.pages }
}

/** What happened to a link, newest first. */
export async function fetchLog(
  { slug }: Link,
  page: number,
): Promise<{ readonly events: readonly LinkEvent[]; readonly pages: number }> {
  const path = `/api/v1/links/${slug}/log?page=${page}&per_page=${PAGE}`
  const { data, pagination } = await fetchJson(linkLogAnswer, path)
  return { events: data, pages: pagination.pages }
}

export async function revokeLink({ slug }: Link): Promise<void> {
  await fetchJson(doneWithMessage, `/api/v1/links/${slug}`, { method: 'DELETE' })
}
