import { z } from '@hono/zod-openapi'
import type { Slug } from '../../domain/ids.ts'
import { keyedRoute } from '../route.ts'
import { UPLOADS_PATH } from '../uploads/paths.ts'
import { dataOf } from './fields.ts'
import { toUnfinishedUpload, unfinishedUpload } from './upload-answers.ts'

const listedUpload = unfinishedUpload
  .extend({
    location: z.string().openapi({
      description:
        'Where the upload goes on, for its owner: with the scopes "upload" and "manage" the same as the address that it began with',
    }),
  })
  .openapi('ListedUpload')

export const listUploads = keyedRoute({
  method: 'get',
  path: '/api/v1/uploads',
  need: 'read',
  summary: 'List your unfinished resumable uploads, oldest first',
  tag: 'Uploads',
  answer: dataOf(z.array(listedUpload)),
  async handle({ call, caller }) {
    const { resumable } = call.site.services
    const uploads = await resumable.list(caller)
    return {
      success: true,
      data: uploads.map((upload) => ({
        ...toUnfinishedUpload(call.site, upload),
        location: `${UPLOADS_PATH}/${resumable.nameForOwner(upload)}`,
      })),
    }
  },
})

export const cancelUpload = keyedRoute({
  method: 'post',
  path: '/api/v1/upload/cancel',
  need: 'manage',
  summary: 'End an unfinished resumable upload of yours, also when its address is lost',
  tag: 'Uploads',
  body: z.object({
    slug: z
      .string('must be the slug of the upload')
      .openapi({ description: 'As the list of uploads has it' }),
  }),
  answer: z.object({ success: z.literal(true), message: z.string() }),
  errors: [400, 404, 413, 423],
  async handle({ call, caller, body }) {
    await call.site.services.resumable.cancel(caller, body.slug as Slug)
    return { success: true, message: 'The upload has ended' }
  },
})
