import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../contract/fields.ts'
import { openEndpoint } from '../server/endpoint.ts'
import type { UploadsPart } from './uploads.part.ts'

/** The receipt is all that it takes: whoever has it has uploaded the file, or was given it by them. */
export const deleteByReceipt = openEndpoint({
  summary: 'Delete what was uploaded as a guest, also while it is still arriving',
  tag: 'Uploads',
  params: z.object({ receipt: z.string().openapi({ description: 'From the answer to the upload' }) }),
  answer: doneWithMessage,
  errors: [404],
  async handle({ params }, { uploads }: { uploads: UploadsPart }) {
    await uploads.receipts.redeem(params.receipt ?? '')
    return { success: true, message: 'The upload was deleted' }
  },
})
