import { z } from '@hono/zod-openapi'
import { transferMade } from '../contract/links.ts'
import { guestEndpoint } from '../server/endpoint.ts'
import { assertKnownFields } from '../server/requests/fields.ts'
import { setReceiptHeader } from '../uploads/upload-answers.ts'
import type { UploadsModule } from '../uploads/uploads.module.ts'
import { guestTerms, linkUrl, termsOfBody, transferTerms } from './links/links.routes.ts'
import type { SharingModule } from './sharing.module.ts'

const { complete: _, ...announced } = transferTerms

const fields = { ...guestTerms, ...announced }

export const makeTransferEndpoint = guestEndpoint({
  summary: 'Create a transfer',
  description:
    'A folder with one link, which files are then put into: with X-Folder-ID by its account, with Holdfast-Transfer by whoever holds the receipt of a guest’s. Its link never changes and opens what is there. As long as it has no password, end or number of downloads, the folder is public. Without a file it goes after an hour.',
  tag: 'Links',
  headers: z.object({
    'Idempotency-Key': z.string().optional().openapi({
      description: 'Sent again within 24 hours with the same body, it answers the first result',
    }),
  }),
  body: z.looseObject(fields).openapi({
    description: 'A field that a transfer does not have is refused',
    example: { name: 'Holiday pictures', files: 12 },
  }),
  status: 201,
  answer: transferMade,
  errors: [400, 403, 409, 413, 422],
  async handle(
    { call, caller, body },
    {
      sharing,
      uploads,
    }: {
      readonly sharing: Pick<SharingModule, 'transfers'>
      readonly uploads: Pick<UploadsModule, 'receipts'>
    },
  ) {
    assertKnownFields(body, Object.keys(fields))
    const { sender, files, bytes } = body
    const key = call.request.headers.get('idempotency-key')
    const wanted = {
      ...termsOfBody(body),
      sender: sender ?? null,
      files: files ?? null,
      bytes: bytes ?? null,
    }
    const { id, slug, folder } = await sharing.transfers.make(caller, wanted, key)
    const data = { url: linkUrl(call.site, slug), slug, folder }
    const receipt = caller.kind === 'guest' ? setReceiptHeader(call, uploads.receipts.ofTransfer(id)) : {}
    return { success: true, message: 'Transfer created; put its files into it', data, ...receipt }
  },
})
