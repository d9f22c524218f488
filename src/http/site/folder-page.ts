import { z } from '@hono/zod-openapi'
import type { Viewer } from '../../domain/access.ts'
import { timestamp } from '../../domain/clock.ts'
import type { FolderIdentifier } from '../../domain/ids.ts'
import { fileNotFound, unlocked } from '../../services/access.ts'
import type { Folder } from '../../services/folders.ts'
import { thumbnailPath } from '../api/file-answers.ts'
import { type Call, viewerOf } from '../call.ts'
import { archiveAnswers, sendArchive } from '../content/archives.ts'
import type { Route } from '../route.ts'
import { passwordForm } from './folder-password.ts'
import { readerOf } from './language.ts'
import { page } from './pages.ts'
import type { FolderPageView } from './views.ts'

export const getFolderPage: Route = {
  method: 'get',
  path: '/f/{identifier}',
  auth: 'none',
  documentation: {
    summary: 'The page of a folder; with ?download=zip what is in it as one ZIP file',
    tag: 'Site',
    params: z.object({ identifier: z.string() }),
    query: z.object({ page: z.string().optional(), download: z.string().optional() }),
    answers: { ...archiveAnswers, 200: { description: 'A page, or a ZIP file' } },
    errors: [403, 404, 412, 416],
  },
  streams: 'out',
  async handle(call) {
    const { access, publicFolders } = call.site.services
    const viewer = await viewerOf(call)
    const identifier = (call.params.identifier ?? '') as FolderIdentifier
    const seen = await access.folder(viewer, identifier)
    if (call.url.searchParams.get('download') === 'zip') return toArchive(call, viewer, unlocked(seen))
    if (seen.kind === 'locked') return passwordForm(call, seen.folder, `/f/${identifier}`, null)
    const folder = seen.item
    const isOwner = viewer.account === folder.account_id
    const number = pageNumber(call.url.searchParams.get('page'))
    const contents = await publicFolders.contents(folder, number, isOwner)
    if (number > contents.pages) throw fileNotFound()
    const parent = seen.chain.at(-2)
    const view: FolderPageView = {
      name: folder.name,
      identifier,
      url: `${call.site.publicUrl}/f/${identifier}`,
      parent: parent === undefined ? null : { name: parent.name, url: `/f/${parent.identifier}` },
      folders: contents.folders.map((sub) => ({
        name: sub.name,
        url: `/f/${sub.identifier}`,
        fileCount: sub.password_hash === null || isOwner ? sub.file_count : null,
      })),
      files: contents.files.map((file) => ({
        name: file.name,
        slug: file.slug,
        size: file.size,
        type: file.type,
        createdAt: timestamp(file.created_at),
        thumbnailUrl: thumbnailPath(file.uuid),
      })),
      fileCount: folder.file_count,
      page: number,
      pages: contents.pages,
    }
    return page(call.site, call.site.pages.folderPage(view, readerOf(call.request)))
  },
}

async function toArchive(call: Call, viewer: Viewer, folder: Folder): Promise<Response> {
  const archive = await call.site.services.archives.folder(viewer, folder.id)
  return sendArchive(call, archive, {
    folder: folder.name,
    isOwner: viewer.account === folder.account_id,
  })
}

function pageNumber(text: string | null): number {
  const page = Number(text ?? '1')
  return Number.isInteger(page) && page >= 1 ? Math.min(page, 1_000_000) : 1
}
