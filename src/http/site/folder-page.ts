import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { FolderIdentifier } from '../../domain/ids.ts'
import { fileNotFound } from '../../services/access.ts'
import { thumbnailPath } from '../api/file-answers.ts'
import { viewerOf } from '../call.ts'
import type { Route } from '../route.ts'
import { passwordForm } from './folder-password.ts'
import { page } from './pages.ts'
import { renderFolderPage } from './render.ts'

export const getFolderPage: Route = {
  method: 'get',
  path: '/f/{identifier}',
  auth: 'none',
  documentation: {
    summary: 'The page of a folder',
    tag: 'Site',
    params: z.object({ identifier: z.string() }),
    query: z.object({ page: z.string().optional() }),
    answers: { 200: { description: 'A page' } },
    errors: [404],
  },
  async handle(call) {
    const { access, publicFolders } = call.site.services
    const viewer = await viewerOf(call)
    const identifier = (call.params.identifier ?? '') as FolderIdentifier
    const seen = await access.folder(viewer, identifier)
    if (seen.kind === 'locked') return passwordForm(call, seen.folder, `/f/${identifier}`, null)
    const folder = seen.item
    const isOwner = viewer.account === folder.account_id
    const number = pageNumber(call.url.searchParams.get('page'))
    const contents = await publicFolders.contents(folder, number, isOwner)
    if (number > contents.pages) throw fileNotFound()
    const parent = seen.chain.at(-2)
    return page(
      call.site,
      renderFolderPage({
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
      }),
    )
  },
}

function pageNumber(text: string | null): number {
  const page = Number(text ?? '1')
  return Number.isInteger(page) && page >= 1 ? Math.min(page, 1_000_000) : 1
}
