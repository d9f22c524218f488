import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { FolderIdentifier } from '../../domain/ids.ts'
import { opened } from '../../services/access.ts'
import { timestampField } from '../api/fields.ts'
import { fileUrl } from '../api/file-answers.ts'
import { askerOf } from '../call.ts'
import { openRoute, type Route } from '../route.ts'

const folderContents = z
  .object({
    success: z.literal(true),
    name: z.string(),
    page: z.number().int(),
    pages: z.number().int(),
    folders: z.array(z.object({ identifier: z.string(), name: z.string() })),
    files: z.array(
      z.object({
        slug: z.string(),
        name: z.string(),
        size: z.number().int(),
        type: z.string(),
        url: z.string(),
        created_at: timestampField,
      }),
    ),
  })
  .openapi('PublicFolder')

/** What the page of a folder shows, for programs. */
export const listPublicFolder: Route = openRoute({
  method: 'post',
  path: '/v2/api/public/folder',
  summary: 'One page of what is in a folder that you may see: subfolders first, then files, 100 a page',
  tag: 'Public',
  body: z.object({
    folder: z.string('must be the identifier of the folder'),
    page: z
      .int('must be a whole number from 1')
      .min(1, 'must be a whole number from 1')
      .max(1_000_000)
      .optional(),
  }),
  answer: folderContents,
  errors: [400, 403, 404, 413],
  async handle({ call, body }) {
    const { access, publicFolders } = call.site.services
    const seen = await access.folder(await askerOf(call), body.folder as FolderIdentifier)
    const { item: folder, viewer } = opened(seen)
    const page = body.page ?? 1
    const contents = await publicFolders.contents(folder, {
      page,
      isOwner: viewer.account === folder.account_id,
      folders: { sort: 'created_at', order: 'asc' },
      files: { sort: 'created_at', order: 'desc' },
    })
    return {
      success: true,
      name: folder.name,
      page,
      pages: contents.pages,
      folders: contents.folders.map(({ identifier, name }) => ({ identifier, name })),
      files: contents.files.map((file) => ({
        slug: file.slug,
        name: file.name,
        size: file.size,
        type: file.type,
        url: fileUrl(call.site, file.slug),
        created_at: timestamp(file.created_at),
      })),
    }
  },
})
