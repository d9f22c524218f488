import { z } from '@hono/zod-openapi'
import { folderAnswer, foldersAnswer, subfoldersAnswer } from '../../contract/folders.ts'
import { parseFolderIdentifier, parseFolderPlace } from '../../domain/ids.ts'
import { keyedEndpoint } from '../../server/endpoint.ts'
import { identifierParameter, MAX_PAGE, paginationOf, queryNumber } from '../../server/requests/fields.ts'
import type { FilesPart } from '../files.part.ts'
import { toFolderListItem } from './folder-answers.ts'

export const listFoldersEndpoint = keyedEndpoint({
  summary: 'List folders',
  tag: 'Folders',
  query: z.object({
    parent: z
      .string()
      .optional()
      .openapi({ description: 'Only those directly in this folder; "root" for the top level' }),
  }),
  answer: foldersAnswer,
  errors: [404],
  async handle({ caller, query }, { files }: { files: FilesPart }) {
    const parent = query.parent === undefined || query.parent === '' ? null : parseFolderPlace(query.parent)
    const folders = await files.folders.list(caller, parent)
    return { success: true, data: folders.map(toFolderListItem) }
  },
})

export const listSubfoldersEndpoint = keyedEndpoint({
  summary: 'List the subfolders of a folder',
  description: 'Those directly in it: all of them, or page by page.',
  tag: 'Folders',
  params: identifierParameter,
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
    sort: z.enum(['name', 'created_at']).optional().openapi({
      description:
        'Of pages. By name: naturally, so "folder 2" before "folder 10", without regard to case and accents',
    }),
    order: z.enum(['asc', 'desc']).optional(),
  }),
  answer: subfoldersAnswer,
  errors: [400, 404],
  async handle({ caller, params, query }, { files }: { files: FilesPart }) {
    const place = parseFolderPlace(params.identifier)
    if (query.page === undefined && query.per_page === undefined) {
      return { success: true, data: (await files.folders.list(caller, place)).map(toFolderListItem) }
    }
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const found = await files.folders.page(caller, place, {
      page,
      perPage,
      sort: query.sort ?? 'name',
      order: query.order ?? 'asc',
    })
    return {
      success: true,
      data: found.folders.map(toFolderListItem),
      pagination: paginationOf(page, perPage, found.total),
    }
  },
})

export const getFolderEndpoint = keyedEndpoint({
  summary: 'Get a folder',
  description: 'With the folders that it is in.',
  tag: 'Folders',
  params: identifierParameter,
  answer: folderAnswer,
  errors: [404],
  async handle({ caller, params }, { files }: { files: FilesPart }) {
    const folder = await files.folders.get(caller, parseFolderIdentifier(params.identifier))
    const path = (await files.folders.above(caller, folder)).map(({ identifier, name }) => ({
      id: identifier,
      name,
    }))
    return { success: true, data: { ...toFolderListItem(folder), path } }
  },
})
