import { doneWithMessage } from '../../../src/contract/fields.ts'
import { type Link, type LinkDetail, linkMadeAnswer, linksAnswer } from '../../../src/contract/links.ts'
import { DAY } from '../../../src/domain/clock.ts'
import { askServer, sending } from '../../shared/ask.ts'
import { type Entry, filesOf, foldersOf } from '../entry.ts'
import type { UploadLimits } from './more-terms.tsx'

/** Links with terms. All throw RequestFailure. */

export interface ShareTerms {
  /** null: it does not end. */
  readonly days: number | null
  readonly isOnce: boolean
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
  { days, isOnce, asks, ...terms }: ShareTerms,
): Promise<LinkDetail> {
  const body = {
    files: filesOf(entries).map(({ uuid }) => uuid),
    folders: foldersOf(entries).map(({ id }) => id),
    ends_at: days === null ? null : new Date(Date.now() + days * DAY).toISOString(),
    max_downloads: isOnce && asks === null ? 1 : null,
    ...(asks === null ? {} : { uploads: uploadsOf(asks) }),
    ...terms,
  }
  return (await askServer(linkMadeAnswer, '/api/v1/links', sending('POST', body))).data
}

function uploadsOf({ forName, maxFiles, maxFileSize, types }: NonNullable<ShareTerms['asks']>) {
  return {
    fields: forName ? { sender: 'required' } : {},
    max_files: maxFiles,
    max_file_size: maxFileSize,
    types,
  }
}

/** How many links the server answers at a time. */
const PAGE = 50

export async function fetchLinks(
  page: number,
): Promise<{ readonly links: readonly Link[]; readonly pages: number }> {
  const { data, pagination } = await askServer(linksAnswer, `/api/v1/links?page=${page}&per_page=${PAGE}`)
  return { links: data, pages: pagination.pages }
}

export async function revokeLink({ slug }: Link): Promise<void> {
  await askServer(doneWithMessage, `/api/v1/links/${slug}`, { method: 'DELETE' })
}
