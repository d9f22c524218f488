import { z } from '@hono/zod-openapi'
import { changedAnswer } from '../contract/fields.ts'
import {
  deletion,
  fileAnswer,
  fileDetail,
  fileListItem,
  fileMovedAnswer,
  filesAnswer,
  filesMovedAnswer,
} from '../contract/files.ts'
import { type AccountCaller, mayRead } from '../core/callers.ts'
import { parseFileIdentifier, parseFolderPlace } from '../domain/ids.ts'
import type { Call } from '../server/call.ts'
import { keyedEndpoint } from '../server/endpoint.ts'
import {
  assertChange,
  batch,
  fileIdentifier,
  folderPlace,
  identifiersOf,
  paginationOf,
  READ_ONLY_ALLOWED,
} from '../server/requests/fields.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import { pictureAddress, toFileDetail, toFileListItem } from './file-answers.ts'
import type { FilesPart } from './files.part.ts'
import type { FileDetail } from './files.ts'
import { listed, listQuery } from './list-query.ts'
import { toDeletion } from './removals.ts'

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
  async handle({ call, caller, query }, { files, thumbnails }: { files: FilesPart; thumbnails: Thumbnails }) {
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
  async handle({ call, caller, params }, parts: { files: FilesPart; thumbnails: Thumbnails }) {
    const file = await parts.files.get(caller, parseFileIdentifier(params.id ?? ''))
    return { success: true, data: toFileDetail(call.site, parts, looked(call, caller, parts.files, file)) }
  },
})

/** A key's look is no use: a program may poll every file hourly. */
function looked(call: Call, { by }: AccountCaller, { usage }: FilesPart, file: FileDetail): FileDetail {
  if (by.kind !== 'session' || call.request.method !== 'GET' || file.damage !== null) return file
  usage.fileUsed(file.id, null)
  return { ...file, last_used_at: Math.max(file.last_used_at, call.site.clock.now()) }
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
  async handle({ call, caller, params, body }, parts: { files: FilesPart; thumbnails: Thumbnails }) {
    assertChange(body, ['folder', ...Object.keys({ ...fileDetail.shape, ...fileListItem.shape })])
    const file = await parts.files.change(caller, parseFileIdentifier(params.id ?? ''), {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.folder === undefined ? {} : { folder: parseFolderPlace(body.folder) }),
    })
    if (!mayRead(caller)) return { success: true, message: 'File changed' }
    return { success: true, data: toFileDetail(call.site, parts, file) }
  },
})

export const moveFileEndpoint = keyedEndpoint({
  summary: 'Move a file',
  tag: 'Files',
  body: z.object({ file: fileIdentifier, folder: folderPlace }),
  answer: fileMovedAnswer,
  errors: [400, 404, 413],
  async handle({ caller, body }, { files }: { files: FilesPart }) {
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
  async handle({ caller, body }, { files }: { files: FilesPart }) {
    const folder = parseFolderPlace(body.folder)
    const identifiers = body.files.map(parseFileIdentifier)
    const outcomes = await files.moveMany(caller, identifiers, folder)
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

export const deleteFilesEndpoint = keyedEndpoint({
  summary: 'Delete files',
  description: 'For good.',
  tag: 'Files',
  body: z.object({ identifiers: identifiersOf(fileIdentifier) }),
  answer: deletion,
  errors: [400, 413],
  async handle({ caller, body }, { files }: { files: FilesPart }) {
    const identifiers = [...new Set(body.identifiers)].map(parseFileIdentifier)
    const counts = await files.removals.files(caller, identifiers)
    return toDeletion(counts, 'files')
  },
})
