import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { Uuid } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import type { ResumableUpload } from '../../services/resumable-uploads.ts'
import type { StoredFile } from '../../services/stored-file.ts'
import type { Call, Site } from '../call.ts'
import { parseMetadata } from '../uploads/tus-headers.ts'
import { timestampField } from './fields.ts'
import { fileUrl, thumbnailPath } from './file-answers.ts'

const receiptField = z.string().optional().openapi({
  description: 'Of a guest’s upload: DELETE /api/v1/receipt/{receipt} deletes it',
})

export const uploadResult = z
  .object({
    success: z.literal(true),
    message: z.string(),
    slug: z.string(),
    url: z.string(),
    file_id: z.number().int(),
    thumbnail_url: z.string(),
    uuid: z.uuid(),
    size: z.number().int(),
    sha256: z.string(),
    receipt: receiptField,
  })
  .openapi('UploadResult')

/** What whoever has just uploaded the file is told, a guest with the receipt. */
export function toUploadResult(
  call: Pick<Call, 'site' | 'headers'>,
  caller: Caller,
  file: StoredFile,
): z.infer<typeof uploadResult> {
  return {
    ...toStoredUpload(call.site, file),
    ...(caller.kind === 'guest' ? giveReceipt(call, file.uuid) : {}),
  }
}

/** The receipt of a guest's upload, in the answer's headers too. Nobody but the one who uploads may be given it. */
export function giveReceipt(
  { site, headers }: Pick<Call, 'site' | 'headers'>,
  uuid: Uuid,
): { receipt: string } {
  const receipt = site.services.receipts.of(uuid)
  headers.set('Holdfast-Receipt', receipt)
  return { receipt }
}

/** The same for whoever looks at an upload that is over. */
export function toStoredUpload(site: Site, file: StoredFile): z.infer<typeof uploadResult> {
  return {
    success: true,
    message: 'File uploaded',
    slug: file.slug,
    url: fileUrl(site, file.slug),
    file_id: file.id,
    thumbnail_url: thumbnailPath(file.uuid),
    uuid: file.uuid,
    size: file.size,
    sha256: file.sha256,
  }
}

export const uploadStates = z.enum(['uploading', 'processing', 'completed', 'failed'])

/** An upload that is not over. */
export const unfinishedUpload = z
  .object({
    status: uploadStates,
    name: z.string(),
    received: z.number().int().openapi({ description: 'Bytes that are safe' }),
    size: z.number().int().nullable().openapi({ description: 'null while nobody has said it' }),
    slug: z.string().openapi({ description: 'Also names a part, to whoever cancels it' }),
    url: z.string().optional().openapi({ description: 'The public page; a part never gets one' }),
    last_modified: z.number().int().nullable().openapi({
      description:
        'When the file was last changed, in milliseconds since 1970, as the metadata said; null where it did not',
    }),
    created_at: timestampField,
    expires_at: timestampField,
  })
  .openapi('UnfinishedUpload')

/** What whoever starts an upload is told. */
export const startedUpload = unfinishedUpload.extend({
  success: z.literal(true),
  location: z.string(),
  receipt: receiptField,
})

export function toUnfinishedUpload(site: Site, upload: ResumableUpload): z.infer<typeof unfinishedUpload> {
  return {
    status: upload.state,
    name: upload.name,
    received: upload.received,
    size: upload.size,
    slug: upload.slug,
    ...(upload.kind === 'partial' ? {} : { url: fileUrl(site, upload.slug) }),
    last_modified: lastModified(upload),
    created_at: timestamp(upload.created_at),
    expires_at: timestamp(site.services.resumable.expiresAt(upload)),
  }
}

function lastModified({ metadata }: ResumableUpload): number | null {
  const value = parseMetadata(metadata).get('lastModified') ?? ''
  return /^\d{1,15}$/.test(value) ? Number(value) : null
}
