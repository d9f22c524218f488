import { z } from '@hono/zod-openapi'
import { changedAnswer } from '../contract/fields.ts'
import {
  deletion,
  type FileDetail as FileDetailAnswer,
  type FileListItem,
  fileAnswer,
  fileDetail,
  fileListItem,
  fileMovedAnswer,
  filesAnswer,
  filesMovedAnswer,
} from '../contract/files.ts'
import { type AccountCaller, mayRead } from '../core/callers.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { parseFileIdentifier, parseFolderPlace } from '../domain/ids.ts'
import { type Call, fileUrl, type Site } from '../server/call.ts'
import { keyedEndpoint } from '../server/endpoint.ts'
import {
  assertChange,
  batch,
  fileIdentifier,
  folderPlace,
  identifiersOf,
  MAX_PAGE,
  paginationOf,
  queryNumber,
  READ_ONLY_ALLOWED,
} from '../server/requests/fields.ts'
import { pictureAddress, type Thumbnails } from '../thumbnails/thumbnails.ts'
import { batchResults } from './batches.ts'
import type { Inactivity } from './expiry.ts'
import type { FileListRow } from './file-lists.rows.ts'
import type { FilesModule } from './files.module.ts'
import type { FileDetailRow } from './files.ts'
import { toDeletion } from './removals.ts'

export const listQuery = {
  page: queryNumber(1, MAX_PAGE).optional(),
  per_page: queryNumber(1, 100).optional(),
  search: z.string().optional().openapi({ description: 'Part of the name, in upper or lower case' }),
  sort: z.enum(['created_at', 'name', 'size', 'downloads']).optional().openapi({
    description: 'By name: naturally, so "file 2" before "file 10", without regard to case and accents',
  }),
  order: z.enum(['asc', 'desc']).optional(),
}

type ListQuery = z.infer<z.ZodObject<typeof listQuery>>

export function listed({
  page = 1,
  per_page = 20,
  search = '',
  sort = 'created_at',
  order = 'desc',
}: ListQuery) {
  return { page, perPage: per_page, search, sort, order }
}

const idParameter = z.object({
  id: z.string().openapi({ description: 'Slug, UUID or numeric id', example: 'Kx3RmP7vTq2a' }),
})

export const listFilesEndpoint = keyedEndpoint({
  summary: 'List files',
  tag: 'Files',
  query: z.object({
    ...listQuery,
    folder: z
      .string()
      .optional()
      .openapi({ description: 'Folder identifier, or "root"; all files without it' }),
    totals: z.enum(['exact', 'bounded']).optional().openapi({
      description:
        'With "bounded" the hits of a search are counted to 10,000; beyond that the total is a lower bound',
    }),
  }),
  answer: filesAnswer,
  errors: [400, 404],
  async handle(
    { call, caller, query },
    { files, thumbnails }: { files: FilesModule; thumbnails: Thumbnails },
  ) {
    const which = listed(query)
    const isBounded = query.totals === 'bounded'
    const {
      files: found,
      total,
      isExact,
    } = await files.list(caller, {
      ...which,
      folder: query.folder === undefined || query.folder === '' ? null : parseFolderPlace(query.folder),
      boundsTotal: isBounded,
    })
    return {
      success: true,
      data: found.map((file) => toFileListItem(call.site, file, pictureAddress(thumbnails, file))),
      pagination: {
        ...paginationOf(which.page, which.perPage, total),
        ...(isBounded ? { total_exact: isExact } : {}),
      },
    }
  },
})

export const getFileEndpoint = keyedEndpoint({
  summary: 'Get a file',
  description: 'On the site this is a look by the owner, which keeps the file. With a key it is none.',
  tag: 'Files',
  params: idParameter,
  answer: fileAnswer,
  errors: [404],
  async handle({ call, caller, params }, modules: { files: FilesModule; thumbnails: Thumbnails }) {
    const file = await modules.files.get(caller, parseFileIdentifier(params.id ?? ''))
    return {
      success: true,
      data: toFileDetail(call.site, modules, looked(call, caller, modules.files, file)),
    }
  },
})

/** A key's look is no use: a program may poll every file hourly. */
function looked(
  call: Call,
  { by }: AccountCaller,
  { usage }: FilesModule,
  file: FileDetailRow,
): FileDetailRow {
  if (by.kind !== 'session' || call.request.method !== 'GET' || file.damage !== null) return file
  const now = call.site.clock.now()
  usage.fileUsed(file.id, null, now)
  return { ...file, last_used_at: Math.max(file.last_used_at, now) }
}

export const renameFileEndpoint = keyedEndpoint({
  summary: 'Update a file',
  description: 'Renames it, moves it to a folder, or both.',
  tag: 'Files',
  params: idParameter,
  body: z
    .looseObject({
      name: z.string('must be the new name').min(1, 'must not be empty').optional(),
      folder: folderPlace,
    })
    .openapi({ description: READ_ONLY_ALLOWED }),
  answer: changedAnswer(fileAnswer),
  errors: [400, 404, 413],
  async handle({ call, caller, params, body }, modules: { files: FilesModule; thumbnails: Thumbnails }) {
    assertChange(body, ['folder', ...Object.keys({ ...fileDetail.shape, ...fileListItem.shape })])
    const file = await modules.files.change(caller, parseFileIdentifier(params.id ?? ''), {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.folder === undefined ? {} : { folder: parseFolderPlace(body.folder) }),
    })
    if (!mayRead(caller)) return { success: true, message: 'File changed' }
    return { success: true, data: toFileDetail(call.site, modules, file) }
  },
})

export const moveFileEndpoint = keyedEndpoint({
  summary: 'Move a file',
  tag: 'Files',
  body: z.object({ file: fileIdentifier, folder: folderPlace }),
  answer: fileMovedAnswer,
  errors: [400, 404, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const folder = parseFolderPlace(body.folder)
    await files.move(caller, parseFileIdentifier(body.file), folder)
    return { success: true, message: 'File moved', data: { file: body.file, folder } }
  },
})

export const moveFilesEndpoint = keyedEndpoint({
  summary: 'Move files',
  description: 'Up to 200, to a folder.',
  tag: 'Files',
  body: z.object({ files: batch(fileIdentifier), folder: folderPlace }),
  answer: filesMovedAnswer,
  errors: [400, 404, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const folder = parseFolderPlace(body.folder)
    const identifiers = body.files.map(parseFileIdentifier)
    const outcomes = await files.moveMany(caller, identifiers, folder)
    const names = body.files.map((file) => ({ file }))
    const { done: moved, failed, results } = batchResults(names, outcomes, () => ({}))
    return {
      success: failed === 0,
      message: `Moved ${moved} of ${results.length} files`,
      data: { folder, moved, failed, results },
    }
  },
})

export const deleteFilesEndpoint = keyedEndpoint({
  summary: 'Delete files',
  description: 'For good.',
  tag: 'Files',
  body: z.object({ identifiers: identifiersOf(fileIdentifier) }),
  answer: deletion,
  errors: [400, 413],
  async handle({ caller, body }, { files }: { files: FilesModule }) {
    const identifiers = [...new Set(body.identifiers)].map(parseFileIdentifier)
    const counts = await files.removals.files(caller, identifiers)
    return toDeletion(counts, 'files')
  },
})

function toFileListItem(site: Site, file: FileListRow, pictureUrl: string): FileListItem {
  const item = {
    id: file.id,
    uuid: file.uuid,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    folder_id: file.folder_identifier ?? 'root',
    created_at: timestamp(file.created_at),
    downloads: file.downloads,
    picture_url: pictureUrl,
  }
  return file.damage === null ? item : { ...item, damaged: true }
}

function toFileDetail(
  site: Site,
  { files, thumbnails }: { files: { inactivity: Inactivity }; thumbnails: Pick<Thumbnails, 'progress'> },
  file: FileDetailRow,
): FileDetailAnswer {
  const detail = {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    has_thumbnail: thumbnails.progress(file) === 'ready',
    created_at: timestamp(file.created_at),
    downloads: file.downloads,
    views: file.views,
    folder_id: file.folder_identifier ?? 'root',
    sha256: file.sha256,
    verified_at: file.verified_at === null ? null : timestamp(file.verified_at),
    expires_at: optionalTime(files.inactivity.endOf(file)),
  }
  return file.damage === null ? detail : { ...detail, damaged: true }
}
