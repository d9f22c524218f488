import { z } from '@hono/zod-openapi'
import { type FolderIdentifier, parseFolderPlace } from '../../domain/ids.ts'
import { keyedRoute } from '../route.ts'
import { dataOf, identifierParameter, MAX_PAGE, pagination, paginationOf, queryNumber } from './fields.ts'
import { folderDetail, folderListItem, toFolderListItem } from './folder-answers.ts'

export const listFolders = keyedRoute({
  method: 'get',
  path: '/api/v1/folders',
  need: 'read',
  summary: 'List your folders',
  tag: 'Folders',
  query: z.object({
    parent: z
      .string()
      .optional()
      .openapi({ description: 'Only those directly in this folder; "root" for the top level' }),
  }),
  answer: dataOf(z.array(folderListItem)),
  errors: [404],
  async handle({ call, caller, query }) {
    const parent = query.parent === undefined || query.parent === '' ? null : parseFolderPlace(query.parent)
    const folders = await call.site.services.folders.list(caller, parent)
    return { success: true, data: folders.map(toFolderListItem) }
  },
})

export const listSubfolders = keyedRoute({
  method: 'get',
  path: '/api/v1/folder/{identifier}/folders',
  need: 'read',
  summary: 'List the folders directly in a folder: all of them, or page by page',
  tag: 'Folders',
  params: identifierParameter,
  query: z.object({
    page: queryNumber(1, MAX_PAGE).optional(),
    per_page: queryNumber(1, 100).optional(),
    sort: z.enum(['name', 'created_at']).optional().openapi({ description: 'Of pages' }),
    order: z.enum(['asc', 'desc']).optional(),
  }),
  answer: z.object({
    success: z.literal(true),
    data: z.array(folderListItem),
    pagination: pagination.optional(),
  }),
  errors: [400, 404],
  async handle({ call, caller, params, query }) {
    const { folders } = call.site.services
    const place = parseFolderPlace(params.identifier)
    if (query.page === undefined && query.per_page === undefined) {
      return { success: true, data: (await folders.list(caller, place)).map(toFolderListItem) }
    }
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const found = await folders.page(caller, place, {
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

export const getFolder = keyedRoute({
  method: 'get',
  path: '/api/v1/folder/{identifier}',
  need: 'read',
  summary: 'Read one of your folders, and what it is in',
  tag: 'Folders',
  params: identifierParameter,
  answer: dataOf(folderDetail),
  errors: [404],
  async handle({ call, caller, params }) {
    const { folders } = call.site.services
    const folder = await folders.get(caller, (params.identifier ?? '') as FolderIdentifier)
    const path = (await folders.above(caller, folder)).map(({ identifier, name }) => ({
      id: identifier,
      name,
    }))
    return { success: true, data: { ...toFolderListItem(folder), path } }
  },
})
