import { z } from '@hono/zod-openapi'
import { ALL_FILES_SORTS } from '../../../domain/administration.ts'
import { timestamp } from '../../../domain/clock.ts'
import { GUESTS } from '../../../domain/ids.ts'
import type { AnyFile } from '../../../services/all-files.ts'
import type { Site } from '../../call.ts'
import { adminRoute } from '../../route.ts'
import { timestampField } from '../fields.ts'
import { fileUrl, thumbnailPath } from '../file-answers.ts'
import { listOf, owner, pageOf, pageQuery, sizeField, toList } from './fields.ts'

const anyFile = z
  .object({
    id: z.number().int(),
    uuid: z.uuid(),
    slug: z.string(),
    url: z.string(),
    thumbnail_url: z.string(),
    name: z.string(),
    type: z.string(),
    size: sizeField,
    created_at: timestampField,
    views: z.number().int(),
    downloads: z.number().int(),
    sha256: z.string(),
    account: owner.nullable().openapi({ description: 'null: a guest' }),
  })
  .openapi('AnyFile')

function toAnyFile(site: Site, file: AnyFile): z.infer<typeof anyFile> {
  return {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    url: fileUrl(site, file.slug),
    thumbnail_url: thumbnailPath(file.uuid),
    name: file.name,
    type: file.type,
    size: file.size,
    created_at: timestamp(file.created_at),
    views: file.views,
    downloads: file.downloads,
    sha256: file.sha256,
    account: file.account_id === GUESTS ? null : { id: file.account_id, username: file.username },
  }
}

export const listAllFiles = adminRoute({
  method: 'get',
  path: '/api/v1/admin/files',
  summary: 'List the files of everybody, the newest or the largest first',
  query: z.object({ ...pageQuery, sort: z.enum(ALL_FILES_SORTS).optional() }),
  answer: listOf(anyFile),
  errors: [400],
  async handle({ call, query }) {
    const page = pageOf(query)
    const sort = query.sort ?? 'created_at'
    const { files, total } = await call.site.services.allFiles.list(sort, page.page, page.perPage)
    return toList(
      page,
      files.map((file) => toAnyFile(call.site, file)),
      total,
    )
  },
})
