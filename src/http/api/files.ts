import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import { parseFileIdentifier, parseFolderPlace } from '../../domain/ids.ts'
import { LARGE_JSON } from '../body.ts'
import { pictureAddresses } from '../content/picture-addresses.ts'
import { keyedRoute } from '../route.ts'
import { deletion, toDeletion } from './deletion.ts'
import {
  assertKnownFields,
  batch,
  boundedPagination,
  dataOf,
  fileIdentifier,
  folderPlace,
  MAX_PAGE,
  paginationOf,
  queryNumber,
  READ_ONLY_ALLOWED,
  success,
} from './fields.ts'
import { fileDetail, fileListItem, toFileDetail, toFileListItem } from './file-answers.ts'

const idParameter = z.object({
  id: z.string().openapi({ description: 'Slug, UUID or numeric id', example: 'Kx3RmP7vTq2a' }),
})

export const listFiles = keyedRoute({
  method: 'get',
  path: '/api/v1/files',
  need: 'read',
  summary: 'List your files',
  tag: 'Files',
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
    folder: z
      .string()
      .optional()
      .openapi({ description: 'Folder identifier, or "root"; all files without it' }),
    search: z.string().optional().openapi({ description: 'Part of the name, in upper or lower case' }),
    sort: z.enum(['created_at', 'name', 'size', 'downloads']).optional(),
    order: z.enum(['asc', 'desc']).optional(),
    totals: z.enum(['exact', 'bounded']).optional().openapi({
      description:
        'With "bounded" the hits of a search are counted to 10,000; beyond that the total is a lower bound',
    }),
  }),
  answer: z.object({ success: z.literal(true), data: z.array(fileListItem), pagination: boundedPagination }),
  errors: [400, 404],
  async handle({ call, caller, query }) {
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const isBounded = query.totals === 'bounded'
    const { files, total, isExact } = await call.site.services.files.list(caller, {
      page,
      perPage,
      folder: query.folder === undefined || query.folder === '' ? null : parseFolderPlace(query.folder),
      search: query.search ?? '',
      sort: query.sort ?? 'created_at',
      order: query.order ?? 'desc',
      boundsTotal: isBounded,
    })
    const pictureOf = await pictureAddresses(call.site, files)
    return {
      success: true,
      data: files.map((file) => toFileListItem(call.site, file, pictureOf(file))),
      pagination: {
        ...paginationOf(page, perPage, total),
        ...(isBounded ? { total_exact: isExact } : {}),
      },
    }
  },
})

export const getFile = keyedRoute({
  method: 'get',
  path: '/api/v1/file/{id}',
  need: 'read',
  summary: 'Read one of your files',
  tag: 'Files',
  params: idParameter,
  answer: dataOf(fileDetail),
  errors: [404],
  async handle({ call, caller, params }) {
    const file = await call.site.services.files.get(caller, parseFileIdentifier(params.id ?? ''))
    return { success: true, data: toFileDetail(call.site, file) }
  },
})

export const renameFile = keyedRoute({
  method: 'patch',
  path: '/api/v1/file/{id}',
  need: 'manage',
  summary: 'Rename a file, move it to a folder, or both',
  tag: 'Files',
  params: idParameter,
  body: z
    .looseObject({
      name: z.string('must be the new name').min(1, 'must not be empty').optional(),
      folder: folderPlace,
    })
    .openapi({ description: READ_ONLY_ALLOWED }),
  answer: dataOf(fileDetail),
  errors: [400, 404, 413],
  async handle({ call, caller, params, body }) {
    assertKnownFields(body, ['folder', ...Object.keys({ ...fileDetail.shape, ...fileListItem.shape })])
    if (Object.keys(body).length === 0) {
      throw new Refusal('INVALID_REQUEST', 'Send "name" to rename the file, "folder" to move it, or both')
    }
    const file = await call.site.services.files.change(caller, parseFileIdentifier(params.id ?? ''), {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.folder === undefined ? {} : { folder: parseFolderPlace(body.folder) }),
    })
    return { success: true, data: toFileDetail(call.site, file) }
  },
})

export const moveFile = keyedRoute({
  method: 'post',
  path: '/api/v1/file/move',
  need: 'manage',
  summary: 'Move a file to a folder',
  tag: 'Files',
  body: z.object({ file: fileIdentifier, folder: folderPlace }),
  answer: z.object({
    success: z.literal(true),
    message: z.string(),
    data: z.object({ file: z.string(), folder: z.string() }),
  }),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    const folder = parseFolderPlace(body.folder)
    await call.site.services.files.move(caller, parseFileIdentifier(body.file), folder)
    return { success: true, message: 'File moved', data: { file: body.file, folder } }
  },
})

export const moveFiles = keyedRoute({
  method: 'post',
  path: '/api/v1/files/move',
  need: 'manage',
  summary: 'Move up to 200 files to a folder',
  bodyLimit: LARGE_JSON,
  tag: 'Files',
  body: z.object({ files: batch(fileIdentifier), folder: folderPlace }),
  answer: z.object({
    success,
    message: z.string(),
    data: z.object({
      folder: z.string(),
      moved: z.number().int(),
      failed: z.number().int(),
      results: z.array(z.object({ file: z.string(), success: z.boolean(), error: z.string().optional() })),
    }),
  }),
  errors: [400, 404, 413],
  async handle({ call, caller, body }) {
    const folder = parseFolderPlace(body.folder)
    const identifiers = body.files.map(parseFileIdentifier)
    const outcomes = await call.site.services.files.moveMany(caller, identifiers, folder)
    const results = body.files.map((file, index) => {
      const error = outcomes[index]?.error ?? null
      return error === null ? { file, success: true } : { file, success: false, error }
    })
    const moved = results.filter((result) => result.success).length
    return {
      success: moved === results.length,
      message: `Moved ${moved} of ${results.length} files`,
      data: { folder, moved, failed: results.length - moved, results },
    }
  },
})

export const deleteFiles = keyedRoute({
  method: 'post',
  path: '/file/delete',
  need: 'manage',
  summary: 'Delete files, for good',
  bodyLimit: LARGE_JSON,
  tag: 'Files',
  body: z.object({
    identifiers: z
      .array(fileIdentifier, 'must be a list of identifiers')
      .min(1, 'must hold at least one identifier'),
  }),
  answer: deletion,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const identifiers = [...new Set(body.identifiers)].map(parseFileIdentifier)
    const counts = await call.site.services.removals.files(caller, identifiers)
    return toDeletion(counts, 'files')
  },
})
