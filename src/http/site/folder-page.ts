import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FolderIdentifier } from '../../domain/ids.ts'
import { type Opened, opened } from '../../services/access.ts'
import type { Folder } from '../../services/folders.ts'
import type { ContentsQuery, FolderContents, FolderTotals } from '../../services/public-folders.ts'
import { askerOf, type Call } from '../call.ts'
import { archiveAnswers, archiveReader, sendArchive } from '../content/archives.ts'
import { pictureAddresses } from '../content/picture-addresses.ts'
import type { Route } from '../route.ts'
import { barrierOf } from './barrier.ts'
import { ownLook, rememberedLook, rememberingLook } from './folder-look.ts'
import { passwordForm } from './folder-password.ts'
import { FILE_SORTS, type FolderQuery, readFolderQuery } from './folder-query.ts'
import type { FolderPageView } from './views.ts'

export const getFolderPage: Route = {
  method: 'get',
  path: '/f/{identifier}',
  auth: 'none',
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
    answers: { ...archiveAnswers, 200: { description: 'A page, or a ZIP file' } },
    errors: [403, 404, 412, 416],
  },
  streams: 'out',
  async handle(call) {
    const { access, publicFolders } = call.site.services
    const identifier = (call.params.identifier ?? '') as FolderIdentifier
    const seen = await access.folder(await askerOf(call), identifier)
    if (call.url.searchParams.get('download') === 'zip') return toArchive(call, opened(seen))
    if (seen.kind === 'locked') return passwordForm(call, seen.folder, `/f/${identifier}`, null)
    const query = readFolderQuery(call.url.searchParams)
    const contents = await publicFolders.contents(seen.item, contentsQuery(query, isOwn(seen)))
    if (query.page > contents.pages) throw new Refusal('NOT_FOUND', 'The folder has no page of that number')
    const totals = await publicFolders.totals(seen.item, seen.viewer)
    const pictureOf = await pictureAddresses(call.site, contents.files)
    return rememberingLook(call, toView(call, { seen, query, contents, totals, pictureOf }))
  },
}

interface SeenFolder {
  readonly seen: Opened<Folder>
  readonly query: FolderQuery
  readonly contents: FolderContents
  readonly totals: FolderTotals | null
  /** The address of a file's picture. */
  readonly pictureOf: (file: FolderContents['files'][number]) => string
}

/** Folders stand by their names: nothing else that files are sorted by is shown of them. */
function contentsQuery({ page, sort, order }: FolderQuery, isOwner: boolean): ContentsQuery {
  const folders = { sort: 'name', order: sort === 'name' ? order : 'asc' } as const
  return { page, isOwner, folders, files: { sort, order } }
}

function toView(call: Call, { seen, query, contents, totals, pictureOf }: SeenFolder): FolderPageView {
  const { access } = call.site.services
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
    url: `${call.site.publicUrl}/f/${identifier}`,
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

async function toArchive(call: Call, seen: Opened<Folder>): Promise<Response> {
  const { item: folder, viewer } = seen
  const archive = await call.site.services.archives.folder(archiveReader(call), viewer, folder.id)
  return sendArchive(call, archive, {
    folder: folder.name,
    isOwner: isOwn(seen),
  })
}

function isOwn({ viewer, item }: Opened<Folder>): boolean {
  return viewer.account === item.account_id
}
