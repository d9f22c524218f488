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

/** All functions throw RequestFailure. */

export interface ShareTerms {
  /** Null for no end. */
  readonly endsAt: string | null
  /** Null for no limit. */
  readonly maxDownloads: number | null
  readonly password: string | null
  /** An upload link into the one folder; null for one that opens the targets. */
  readonly asks: ({ readonly forName: boolean } & UploadLimits) | null
  readonly name: string | null
  readonly message: string | null
  /** Null for an unguessable one. */
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

/** The server's page size. */
const PAGE = 50

export async function fetchLinks(
  page: number,
): Promise<{ readonly links: readonly Link[]; readonly pages: number }> {
  const { data, pagination } = await fetchJson(linksAnswer, `/api/v1/links?page=${page}&per_page=${PAGE}`)
  return { links: data, pages: pagination.pages }
}

/** Undefined fields stay. */
export interface LinkChange {
  readonly name: string | null
  readonly message: string | null
  /** Null removes it. */
  readonly password: string | null | undefined
  /** Null for no end. */
  readonly endsAt: string | null | undefined
  /** Null for no limit. */
  readonly maxDownloads: number | null | undefined
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

/** Newest first. */
export async function fetchContributions(
  { slug }: Link,
  page: number,
): Promise<{ readonly contributions: readonly Contribution[]; readonly pages: number }> {
  const path = `/api/v1/links/${slug}/contributions?page=${page}&per_page=${PAGE}`
  const { data, pagination } = await fetchJson(contributionsAnswer, path)
  return { contributions: data, pages: pagination.pages }
}

/** Newest first. */
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
