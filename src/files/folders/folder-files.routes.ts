import { z } from '@hono/zod-openapi'
import { folderFilesAnswer } from '../../contract/folders.ts'
import { holderOf } from '../../core/shares.ts'
import { Refusal } from '../../domain/errors.ts'
import { parseFolderPlace } from '../../domain/ids.ts'
import type { Call } from '../../server/call.ts'
import { keyedEndpoint } from '../../server/endpoint.ts'
import { identifierParameter, paginationOf } from '../../server/requests/fields.ts'
import { toFolderFileItem } from '../file-answers.ts'
import type { FilesPart } from '../files.part.ts'
import type { ListedFile } from '../files.ts'
import { listed, listQuery } from '../list-query.ts'

export const listFolderFilesEndpoint = keyedEndpoint({
  summary: 'List the files of a folder',
  description: 'Those directly in it: all of them, newest first, or page by page as /files.',
  tag: 'Folders',
  params: identifierParameter,
  query: z.object(listQuery),
  answer: folderFilesAnswer,
  errors: [400, 404],
  async handle({ call, caller, params, query }, { files }: { files: FilesPart }) {
    const folder = parseFolderPlace(params.identifier)
    if (query.page === undefined && query.per_page === undefined) {
      return streamed(call, await files.walk(caller, folder))
    }
    const which = listed(query)
    const found = await files.list(caller, { ...which, folder })
    return {
      success: true,
      data: found.files.map((file) => toFolderFileItem(call.site, file)),
      pagination: paginationOf(which.page, which.perPage, found.total),
    }
  },
})

const CHUNK = 64 * 1024

/** Uses constant memory. Throws Refusal RATE_LIMITED or SERVER_BUSY. */
function streamed(call: Call, files: AsyncIterable<ListedFile>): Response {
  const { site, request } = call
  let isYielded = false
  // The body of a HEAD is never read, so it would never end.
  const holding =
    request.method === 'HEAD'
      ? null
      : site.wholeListings.begin(holderOf(call), 0, () => {
          isYielded = true
        })
  const end = () => holding?.end()
  request.signal.addEventListener('abort', end, { once: true })

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
      try {
        if (isYielded)
          throw new Refusal('SERVER_BUSY', 'The list was read so slowly that others took its place')
        holding?.used()
        const { done, value } = await chunks.next()
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        throw error
      }
    },
    async cancel() {
      end()
      await chunks.return(undefined)
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'application/json' } })
}
