import { z } from '@hono/zod-openapi'
import { openRoute } from '../route.ts'

/** The receipt is all that it takes: whoever has it has uploaded the file, or was given it by them. */
export const deleteByReceipt = openRoute({
  method: 'delete',
  path: '/api/v1/receipt/{receipt}',
  summary: 'Delete what was uploaded as a guest, also while it is still arriving',
  tag: 'Uploads',
  params: z.object({ receipt: z.string().openapi({ description: 'From the answer to the upload' }) }),
  answer: z.object({ success: z.literal(true), message: z.string() }),
  errors: [404],
  async handle({ call, params }) {
    await call.site.services.receipts.redeem(params.receipt ?? '')
    return { success: true, message: 'The upload was deleted' }
  },
})
