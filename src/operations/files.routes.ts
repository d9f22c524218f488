import { z } from '@hono/zod-openapi'
import { type AnyFile as AnyFileAnswer, allFilesAnswer } from '../contract/administration.ts'
import { ALL_FILES_SORTS } from '../domain/administration.ts'
import { timestamp } from '../domain/clock.ts'
import { GUESTS } from '../domain/ids.ts'
import { fileUrl, thumbnailPath } from '../files/file-answers.ts'
import { pictureAddresses } from '../files/picture-addresses.ts'
import type { Site } from '../server/call.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import { pageFields, pageQuery, toList } from '../server/requests/list-pages.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import type { AnyFile } from './all-files.ts'
import type { OperationsPart } from './operations.part.ts'

function toAnyFile(site: Site, file: AnyFile, pictureUrl: string): AnyFileAnswer {
  return {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    url: fileUrl(site, file.slug),
    thumbnail_url: thumbnailPath(file.uuid),
    picture_url: pictureUrl,
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

export const listAllFilesEndpoint = adminEndpoint({
  summary: 'List the files of all accounts',
  description: 'Newest or largest first.',
  query: z.object({ ...pageQuery, sort: z.enum(ALL_FILES_SORTS).optional() }),
  answer: allFilesAnswer,
  errors: [400],
  async handle(
    { call, query },
    { operations, thumbnails }: { operations: OperationsPart; thumbnails: Thumbnails },
  ) {
    const page = pageFields(query)
    const sort = query.sort ?? 'created_at'
    const { files, total } = await operations.allFiles.list(sort, page.page, page.perPage)
    const pictureOf = await pictureAddresses(thumbnails, files)
    return toList(
      page,
      files.map((file) => toAnyFile(call.site, file, pictureOf(file))),
      total,
    )
  },
})
