import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../../contract/fields.ts'
import { type ReceiptUpload, receiptAnswer, uploadResult } from '../../contract/uploads.ts'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { parseFolderPlace } from '../../domain/ids.ts'
import { fileUrl } from '../../files/file-answers.ts'
import type { FilesPart } from '../../files/files.part.ts'
import type { Call } from '../../server/call.ts'
import { keyedEndpoint, openEndpoint } from '../../server/endpoint.ts'
import { folderPlace } from '../../server/requests/fields.ts'
import { toStoredUpload, toUnfinishedUpload } from '../upload-answers.ts'
import type { UploadsPart } from '../uploads.part.ts'
import type { GivenReceipt, ReceivedUpload } from './receipts.ts'

/** What answers about a receipt are made of. */
export interface ReceiptNeeds {
  readonly files: Pick<FilesPart, 'lifetime'>
  readonly uploads: UploadsPart
}

const params = z.object({ receipt: z.string().openapi({ description: 'From the answer to the upload' }) })

/** The receipt is all that it takes: whoever has it has uploaded the file, or was given it by them. */
export const deleteByReceipt = openEndpoint({
  summary:
    'Delete what was uploaded as a guest, also while it is still arriving, or revoke the link that a guest made',
  tag: 'Uploads',
  params,
  answer: doneWithMessage,
  errors: [404, 429],
  async handle({ call }, { uploads }: ReceiptNeeds) {
    const kind = await uploads.receipts.redeem(receiptOf(call))
    return { success: true, message: kind === 'link' ? 'The link was revoked' : 'The upload was deleted' }
  },
})

export const lookByReceipt = openEndpoint({
  summary: 'What was uploaded as a guest; changes nothing, and is no view',
  tag: 'Uploads',
  params,
  answer: receiptAnswer,
  errors: [404, 429],
  async handle({ call }, parts: ReceiptNeeds) {
    return { success: true, data: await lookedAt(call, parts) }
  },
})

export const changeByReceipt = openEndpoint({
  summary: 'Rename what was uploaded as a guest, or keep it for as long as if somebody had opened it now',
  tag: 'Uploads',
  params,
  body: z.object({
    name: z.string('must be the new name').min(1, 'must not be empty').optional(),
    keep: z.literal(true, 'must be true').optional(),
  }),
  answer: receiptAnswer,
  errors: [400, 404, 413, 429],
  async handle({ call, body: { name, keep } }, parts: ReceiptNeeds) {
    if (name === undefined && keep === undefined) {
      throw new Refusal('INVALID_REQUEST', 'Send "name" to rename the file, "keep": true to keep it, or both')
    }
    const receipt = receiptOf(call)
    if (name !== undefined) await parts.uploads.receipts.rename(receipt, name)
    if (keep !== undefined) await parts.uploads.receipts.keep(receipt)
    return { success: true, data: await lookedAt(call, parts) }
  },
})

/** Who claims needs both: the receipt of the upload, and an account of their own. */
export const claimByReceipt = keyedEndpoint({
  summary: 'Move what was uploaded as a guest into the account; its link stays, and the receipt ends',
  tag: 'Uploads',
  params,
  body: z.object({ folder: folderPlace }),
  answer: uploadResult,
  errors: [400, 404, 413, 429],
  async handle({ call, caller, body }, { uploads }: Pick<ReceiptNeeds, 'uploads'>) {
    const place = parseFolderPlace(body.folder)
    const file = await uploads.receipts.claim(receiptOf(call), { reach: caller, place })
    return { ...toStoredUpload(call.site, file), message: 'The file is in the account' }
  },
})

export function receiptOf({ params, bucket }: Pick<Call, 'params' | 'bucket'>): GivenReceipt {
  return { text: params.receipt ?? '', bucket }
}

async function lookedAt(call: Call, parts: ReceiptNeeds): Promise<ReceiptUpload> {
  return toReceiptUpload(call, parts, await parts.uploads.receipts.look(receiptOf(call)))
}

export function toReceiptUpload(
  { site }: Pick<Call, 'site'>,
  { files, uploads }: ReceiptNeeds,
  received: ReceivedUpload,
): ReceiptUpload {
  if (received.kind === 'arriving') {
    const {
      status,
      name,
      received: bytes,
      size,
      created_at,
      expires_at,
    } = toUnfinishedUpload(site, uploads, received.upload)
    const { slug } = received.upload
    const url = fileUrl(site, slug)
    const counts = { views: 0, downloads: 0, sha256: null }
    return { status, name, received: bytes, size, slug, url, created_at, expires_at, ...counts }
  }
  const { name, size, slug, created_at, last_used_at, views, downloads, sha256 } = received.file
  return {
    status: 'completed',
    name,
    received: size,
    size,
    slug,
    url: fileUrl(site, slug),
    created_at: timestamp(created_at),
    expires_at: timestamp(files.lifetime.endOf(last_used_at)),
    views,
    downloads,
    sha256,
  }
}
