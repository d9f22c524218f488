import { z } from '@hono/zod-openapi'
import { timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FolderIdentifier } from '../domain/ids.ts'
import type { DownloadsPart } from '../downloads/downloads.part.ts'
import { archiveAnswers, archiveReader, sendArchive } from '../downloads/zip/archives.routes.ts'
import type { FilesPart } from '../files/files.part.ts'
import type { Folder } from '../files/folders/folders.ts'
import { pictureAddress } from '../files/picture-addresses.ts'
import type { Authentication } from '../server/authentication.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { type AccessControl, type Opened, opened } from '../sharing/access.ts'
import type { ContentsQuery, FolderContents, FolderTotals } from '../sharing/public-folders.ts'
import type { SharingPart } from '../sharing/sharing.part.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import { barrierOf } from './barrier.ts'
import { ownLook, rememberedLook, rememberedOrder, rememberingLook, rememberingOrder } from './folder-look.ts'
import { passwordForm } from './folder-password.ts'
import { askedOrder, FILE_SORTS, type FolderQuery, readFolderQuery } from './folder-query.ts'
import type { PagesPart } from './pages.part.ts'
import type { FolderPageView } from './views.ts'

/** Dependencies of the folder page. */
interface FolderPageNeeds {
  readonly authentication: Authentication
  readonly downloads: DownloadsPart
  readonly files: FilesPart
  readonly pages: PagesPart
  readonly sharing: SharingPart
  readonly thumbnails: Thumbnails
}

export const getFolderPage = endpoint({
  documentation: {
    summary: 'The page of a folder; with ?download=zip what is in it as one ZIP file',
    tag: 'Site',
    params: z.object({ identifier: z.string() }),
    query: z.object({
      page: z.string().optional(),
      sort: z.enum(FILE_SORTS).optional(),
      order: z.enum(['asc', 'desc']).optional(),
      view: z.enum(['list', 'gallery']).optional(),
      download: z.string().optional(),
    }),
    answers: {
      ...archiveAnswers,
      200: { description: 'A page, or a ZIP file' },
      303: { description: 'On to the page, in the order that was asked for' },
    },
    errors: [403, 404, 412, 416],
  },
  streams: 'out',
  async handle(call, { authentication, downloads, files, pages, sharing, thumbnails }: FolderPageNeeds) {
    const identifier = (call.params.identifier ?? '') as FolderIdentifier
    const seen = await sharing.access.folder(await authentication.asker(call), identifier)
    if (call.url.searchParams.get('download') === 'zip')
      return toArchive(call, { downloads, files }, opened(seen))
    if (seen.kind === 'locked')
      return passwordForm(call, { pages, sharing }, seen.folder, `/f/${identifier}`, null)
    const { searchParams } = call.url
    const query = readFolderQuery(searchParams, rememberedOrder(call.request))
    const contents = await sharing.publicFolders.contents(seen.item, contentsQuery(query, isOwn(seen)))
    if (query.page > contents.pages) throw new Refusal('NOT_FOUND', 'The folder has no page with that number')
    if (contents.pages > 1 && askedOrder(searchParams) !== null)
      return rememberingOrder(call, urlOf(call, identifier), query)
    const totals = await sharing.publicFolders.totals(seen.item, seen.viewer)
    const pictureOf = (file: FolderContents['files'][number]) => pictureAddress(thumbnails, file)
    return rememberingLook(
      call,
      pages,
      toView(call, sharing.access, { seen, query, contents, totals, pictureOf }),
    )
  },
})

function urlOf(call: Call, identifier: FolderIdentifier): string {
  return `${call.site.publicUrl}/f/${identifier}`
}

interface SeenFolder {
  readonly seen: Opened<Folder>
  readonly query: FolderQuery
  readonly contents: FolderContents
  readonly totals: FolderTotals | null
  /** Returns the thumbnail's address for a file. */
  readonly pictureOf: (file: FolderContents['files'][number]) => string
}

/** Folders are sorted by name only, since their other sort values are not shown. */
function contentsQuery({ page, sort, order }: FolderQuery, isOwner: boolean): ContentsQuery {
  const folders = { sort: 'name', order: sort === 'name' ? order : 'asc' } as const
  return { page, isOwner, folders, files: { sort, order } }
}

function toView(
  call: Call,
  access: AccessControl,
  { seen, query, contents, totals, pictureOf }: SeenFolder,
): FolderPageView {
  const { name, identifier, file_count: fileCount } = seen.item
  const files = contents.files.map((file) => ({
    name: file.name,
    slug: file.slug,
    size: file.size,
    type: file.type,
    createdAt: timestamp(file.created_at),
    downloads: file.downloads,
    thumbnailUrl: pictureOf(file),
  }))
  return {
    name,
    url: urlOf(call, identifier),
    above: seen.chain.slice(0, -1).map((step) => ({ name: step.name, url: `/f/${step.identifier}` })),
    folders: contents.folders.map((sub) => ({
      name: sub.name,
      url: `/f/${sub.identifier}`,
      fileCount: access.opens(seen.viewer, sub) ? sub.file_count : null,
    })),
    files,
    folderCount: contents.folderCount,
    fileCount,
    totals,
    query,
    look: query.look ?? rememberedLook(call.request) ?? ownLook(files),
    pages: contents.pages,
    firstFilePage: contents.firstFilePage,
    barrier: isOwn(seen) ? barrierOf(seen.chain) : null,
  }
}

async function toArchive(
  call: Call,
  { downloads, files }: { downloads: DownloadsPart; files: FilesPart },
  seen: Opened<Folder>,
): Promise<Response> {
  const { item: folder, viewer } = seen
  const archive = await downloads.archives.folder(archiveReader(call), viewer, folder.id)
  return sendArchive(call, files.usage, archive, {
    folder: folder.name,
    isOwner: isOwn(seen),
  })
}

function isOwn({ viewer, item }: Opened<Folder>): boolean {
  return viewer.account === item.account_id
}
