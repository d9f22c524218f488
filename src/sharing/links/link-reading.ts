import { countEvents, type LinkEventRow, listEvents } from '../../core/link-events.rows.ts'
import { pageAtOneMoment } from '../../core/pages-at-one-moment.ts'
import type { Database } from '../../database/database.ts'
import type { Reach } from '../../domain/access.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileIdentifier, FolderIdentifier } from '../../domain/ids.ts'
import { isLinkSlug } from '../../domain/link-slug.ts'
import type { UploadTerms } from '../../domain/upload-terms.ts'
import type { FileListRow } from '../../files/file-lists.rows.ts'
import { type FolderListRow, findFolder } from '../../files/folders/folders.rows.ts'
import { ownFolder } from '../../files/folders/places.ts'
import { ownFile } from '../../files/own-file.ts'
import {
  type LinkUsageAndReceived,
  type ListedContribution,
  listContributions,
  uploadLinks,
  usageOfLinks,
} from '../../uploads/contributions.rows.ts'
import { targetFiles, targetFolders } from './link-targets.rows.ts'
import { countLinks, type LinkListRow, type LinkSelection, listLinks } from './links.rows.ts'

export interface ListedLink extends LinkListRow {
  readonly uploads: { readonly terms: UploadTerms; readonly taken: LinkUsageAndReceived } | null
}

export interface OwnLink {
  readonly link: ListedLink
  readonly files: readonly FileListRow[]
  readonly folders: readonly FolderListRow[]
}

export interface LinkQuery {
  readonly page: number
  readonly perPage: number
  readonly file: FileIdentifier | null
  readonly folder: FolderIdentifier | null
}

/** Newest first. */
export interface LinkLog {
  readonly events: readonly LinkEventRow[]
  readonly total: number
}

/** A caller restricted to one folder sees the links whose targets all lie in it. */
export interface LinkReading {
  /** Throws Refusal LINK_NOT_FOUND. */
  find(reach: Reach, slug: string): Promise<ListedLink>
  /** Newest first. Throws Refusal FILE_NOT_FOUND or FOLDER_NOT_FOUND. */
  list(
    reach: Reach,
    query: LinkQuery,
  ): Promise<{ readonly links: readonly ListedLink[]; readonly total: number }>
  /** Throws Refusal LINK_NOT_FOUND. */
  get(reach: Reach, slug: string): Promise<OwnLink>
  /** Newest first, including running uploads. Throws Refusal LINK_NOT_FOUND. */
  contributions(
    reach: Reach,
    slug: string,
    page: number,
    perPage: number,
  ): Promise<{ readonly contributions: readonly ListedContribution[]; readonly total: number }>
  /** Throws Refusal LINK_NOT_FOUND. */
  log(reach: Reach, slug: string, page: number, perPage: number): Promise<LinkLog>
}

const NOTHING_TAKEN: LinkUsageAndReceived = { files: 0, size: 0, received: { files: 0, size: 0 } }

export function createLinkReading(db: Database): LinkReading {
  async function selectionOf(reach: Reach): Promise<LinkSelection> {
    const { account, within } = reach
    return { account, within: within === null ? null : (await ownFolder(db, reach, within)).id }
  }

  async function listed(selection: LinkSelection, offset: number, limit: number): Promise<ListedLink[]> {
    const rows = await listLinks(db, selection, offset, limit)
    const ids = rows.flatMap(({ id, uploads_into }) => (uploads_into === null ? [] : [id]))
    const [uploads, taken] = [await uploadLinks(db, ids), await usageOfLinks(db, ids)]
    return rows.map((row) => {
      const terms = uploads.get(row.id)?.terms
      if (terms === undefined) return { ...row, uploads: null }
      return { ...row, uploads: { terms, taken: taken.get(row.id) ?? NOTHING_TAKEN } }
    })
  }

  async function find(reach: Reach, slug: string): Promise<ListedLink> {
    if (!isLinkSlug(slug)) throw linkNotFound()
    const [link] = await listed({ ...(await selectionOf(reach)), slug }, 0, 1)
    if (link === undefined) throw linkNotFound()
    return link
  }

  async function withTargets(link: ListedLink): Promise<OwnLink> {
    const { id, uploads_into: into } = link
    if (into === null) return { link, files: await targetFiles(db, id), folders: await targetFolders(db, id) }
    const folder = await findFolder(db, into)
    return { link, files: [], folders: folder === undefined ? [] : [folder] }
  }

  return {
    find,

    async list(reach, { page, perPage, file, folder }) {
      const selection = {
        ...(await selectionOf(reach)),
        ...(file === null ? {} : { file: (await ownFile(db, reach, file)).id }),
        ...(folder === null ? {} : { folder: (await ownFolder(db, reach, folder)).id }),
      }
      const { rows, total } = await pageAtOneMoment(
        async () => ({ total: await countLinks(db, selection) }),
        () => listed(selection, (page - 1) * perPage, perPage),
      )
      return { links: rows, total }
    },

    get: async (reach, slug) => withTargets(await find(reach, slug)),

    async contributions(reach, slug, page, perPage) {
      const { id, uploads } = await find(reach, slug)
      const found = await listContributions(db, id, (page - 1) * perPage, perPage)
      return { contributions: found, total: uploads?.taken.files ?? 0 }
    },

    async log(reach, slug, page, perPage) {
      const { id } = await find(reach, slug)
      const { rows, total } = await pageAtOneMoment(
        async () => ({ total: await countEvents(db, id) }),
        () => listEvents(db, id, (page - 1) * perPage, perPage),
      )
      return { events: rows, total }
    },
  }
}

export function linkNotFound(): Refusal {
  return new Refusal('LINK_NOT_FOUND', 'There is no such link')
}
