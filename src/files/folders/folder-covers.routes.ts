import { z } from '@hono/zod-openapi'
import { folderThumbnailAnswer } from '../../contract/folders.ts'
import type { AccountCaller } from '../../core/callers.ts'
import { Refusal } from '../../domain/errors.ts'
import { parseFolderIdentifier } from '../../domain/ids.ts'
import { formatSize } from '../../domain/sizes.ts'
import { JsonAnswer } from '../../server/answers/json.ts'
import { endpoint, fileField } from '../../server/endpoint.ts'
import { readFormData } from '../../server/requests/body.ts'
import type { Covers } from '../../thumbnails/covers.ts'
import { thumbnailPath } from '../file-answers.ts'
import type { FilesPart } from '../files.part.ts'

/** Bytes; the route's body limit is above it. */
const MOST_SENT = 5 * 1024 * 1024

export const setFolderThumbnailEndpoint = endpoint({
  documentation: {
    summary: 'Set the thumbnail of a folder',
    description:
      'A picture of at most 5 MB, of which a smaller WebP is kept. It takes the place of an earlier one.',
    tag: 'Folders',
    body: {
      type: 'multipart/form-data',
      schema: z.object({
        folder: z.string().openapi({ description: 'Identifier of the folder' }),
        thumbnail: fileField,
      }),
    },
    answers: { 200: { description: 'Success', schema: folderThumbnailAnswer } },
    errors: [400, 404, 413, 503],
  },
  async handle(
    call,
    { files, thumbnails }: { files: FilesPart; thumbnails: { readonly covers: Covers } },
    caller: AccountCaller,
  ) {
    const form = await readFormData(call)
    const [folder, thumbnail] = [form.get('folder'), form.get('thumbnail')]
    if (typeof folder !== 'string') {
      throw new Refusal('INVALID_REQUEST', '"folder": must be the identifier of a folder')
    }
    if (!(thumbnail instanceof Blob)) {
      throw new Refusal('INVALID_REQUEST', '"thumbnail": must be a picture, with a file name')
    }
    if (thumbnail.size > MOST_SENT) {
      throw new Refusal('PAYLOAD_TOO_LARGE', `"thumbnail": may have ${formatSize(MOST_SENT)} at most`)
    }
    const identifier = parseFolderIdentifier(folder)
    await files.folders.get(caller, identifier)
    const bytes = new Uint8Array(await thumbnail.arrayBuffer())
    const picture = await thumbnails.covers.make(bytes, call.request.signal)
    const cover = await files.folders.setCover(caller, identifier, picture)
    const data = { folder: identifier, thumbnail_url: thumbnailPath(cover) }
    return new JsonAnswer({ success: true, message: 'Thumbnail set', data }, 200)
  },
})
