import { z } from '@hono/zod-openapi'
import { parseFolderPlace } from '../../domain/ids.ts'
import type { ListedFile } from '../../services/files.ts'
import type { Site } from '../call.ts'
import { keyedRoute } from '../route.ts'
import { identifierParameter, MAX_PAGE, pagination, paginationOf, queryNumber } from './fields.ts'
import { folderFileItem, toFolderFileItem } from './file-answers.ts'

export const listFolderFiles = keyedRoute({
  method: 'get',
  path: '/api/v1/folder/{identifier}/files',
  need: 'read',
  summary: 'List the files directly in a folder: all of them, or page by page',
  tag: 'Folders',
  params: identifierParameter,
  query: z.object({ page: queryNumber(1, MAX_PAGE).optional(), per_page: queryNumber(1, 100).optional() }),
  answer: z.object({
    success: z.literal(true),
    data: z.array(folderFileItem),
    pagination: pagination.optional(),
  }),
  errors: [400, 404],
  async handle({ call, caller, params, query }) {
    const { files } = call.site.services
    const folder = parseFolderPlace(params.identifier)
    if (query.page === undefined && query.per_page === undefined) {
      return streamed(call.site, await files.walk(caller, folder))
    }
    const page = query.page ?? 1
    const perPage = query.per_page ?? 20
    const found = await files.list(caller, {
      page,
      perPage,
      folder,
      search: '',
      sort: 'created_at',
      order: 'desc',
    })
    return {
      success: true,
      data: found.files.map((file) => toFolderFileItem(call.site, file)),
      pagination: paginationOf(page, perPage, found.total),
    }
  },
})

const CHUNK = 64 * 1024

/** The answer in constant memory, however many files there are. */
function streamed(site: Site, files: AsyncIterable<ListedFile>): Response {
  async function* json(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder()
    let text = '{"success":true,"data":['
    let separator = ''
    for await (const file of files) {
      text += separator + JSON.stringify(toFolderFileItem(site, file))
      separator = ','
      if (text.length < CHUNK) continue
      yield encoder.encode(text)
      text = ''
    }
    yield encoder.encode(`${text}]}`)
  }
  const chunks = json()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'application/json' } })
}
