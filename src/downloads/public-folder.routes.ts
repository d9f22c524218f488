import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { publicFolder } from '../contract/public.ts'
import { timestamp } from '../domain/clock.ts'
import { parseFolderIdentifier } from '../domain/ids.ts'
import { fileUrl } from '../server/call.ts'
import { openEndpoint } from '../server/endpoint.ts'
import { opened } from '../sharing/access.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'

export const listPublicFolderEndpoint = openEndpoint({
  summary: 'List a public folder',
  description: 'One page of a folder that you may see: subfolders first, then files, 100 a page.',
  tag: 'Public',
  body: z.object({
    folder: z.string('must be the identifier of the folder'),
    page: z
      .int('must be a whole number from 1')
      .min(1, 'must be a whole number from 1')
      .max(1_000_000)
      .optional(),
  }),
  answer: publicFolder,
  errors: [400, 403, 404, 413],
  async handle(
    { call, body },
    { authentication, sharing }: { authentication: Authentication; sharing: SharingModule },
  ) {
    const seen = await sharing.access.folder(
      authentication.requester(call),
      parseFolderIdentifier(body.folder),
    )
    const { item: folder, viewer } = opened(seen)
    const page = body.page ?? 1
    const contents = await sharing.publicFolders.contents(folder, {
      page,
      showsPrivate: viewer.account === folder.account_id,
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
