import { z } from '@hono/zod-openapi'
import { keyedRoute } from '../route.ts'
import { dataOf } from './fields.ts'
import { toUnfinishedUpload, unfinishedUpload } from './upload-answers.ts'

export const listUploads = keyedRoute({
  method: 'get',
  path: '/api/v1/uploads',
  need: 'read',
  summary: 'List your unfinished resumable uploads, oldest first',
  tag: 'Uploads',
  answer: dataOf(z.array(unfinishedUpload)),
  async handle({ call, caller }) {
    const uploads = await call.site.services.resumable.list(caller)
    return { success: true, data: uploads.map((upload) => toUnfinishedUpload(call.site, upload)) }
  },
})
