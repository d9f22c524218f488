import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../../contract/fields.ts'
import { UPLOADS_PATH, uploadsAnswer } from '../../contract/uploads.ts'
import { parseFolderPlace, parseSlug } from '../../domain/ids.ts'
import { keyedEndpoint } from '../../server/endpoint.ts'
import { publicNames, toUnfinishedUpload } from '../upload-answers.ts'
import type { UploadsPart } from '../uploads.part.ts'
import { parseMetadata, pathNames } from './tus-headers.ts'

export const listUploads = keyedEndpoint({
  summary: 'List unfinished uploads',
  description: 'Your resumable ones, oldest first.',
  tag: 'Uploads',
  answer: uploadsAnswer,
  async handle({ call, caller }, { uploads }: { uploads: UploadsPart }) {
    const unfinished = await uploads.resumable.list(caller)
    const data = unfinished.map(async (upload) => {
      const metadata = parseMetadata(upload.metadata)
      const named = parseFolderPlace(metadata.get('folder'))
      const depth = Math.max(0, pathNames(metadata).length - 1)
      return {
        ...toUnfinishedUpload(call.site, uploads, upload),
        ...publicNames(call.site, upload),
        location: `${UPLOADS_PATH}/${uploads.resumable.nameForOwner(upload)}`,
        folder: named === 'root' ? await uploads.resumable.startOf(caller, upload, depth) : named,
        path: metadata.get('relativePath') ?? null,
      }
    })
    return { success: true, data: await Promise.all(data) }
  },
})

export const cancelUpload = keyedEndpoint({
  summary: 'Cancel an unfinished upload',
  description: 'A resumable one of yours, also when its address is lost.',
  tag: 'Uploads',
  body: z.object({
    slug: z
      .string('must be the slug of the upload')
      .openapi({ description: 'As the list of uploads has it' }),
  }),
  answer: doneWithMessage,
  errors: [400, 404, 413, 423],
  async handle({ caller, body }, { uploads }: { uploads: UploadsPart }) {
    await uploads.resumable.cancel(caller, parseSlug(body.slug))
    return { success: true, message: 'The upload has ended' }
  },
})
