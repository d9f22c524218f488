import { z } from '@hono/zod-openapi'
import { HOUR, timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { parseFolderPlace, type Slug } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import { type Call, uploadCaller } from '../call.ts'
import { jsonResponse } from '../json.ts'
import { keyedRoute, type Route } from '../route.ts'
import { leaveBody, receiveFile } from '../uploads/receive.ts'
import { timestampField } from './fields.ts'
import { fileUrl, thumbnailPath } from './file-answers.ts'

const uploadResult = z
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
  })
  .openapi('UploadResult')

export const uploadFile: Route = {
  method: 'post',
  path: '/api/v1/upload',
  auth: 'optional',
  documentation: {
    summary: 'Upload a file; without a key as a guest',
    tag: 'Uploads',
    headers: z.object({
      'X-Folder-ID': z.string().optional().openapi({ description: 'Folder to upload into; needs a key' }),
    }),
    body: {
      type: 'multipart/form-data',
      schema: z.object({ file: z.string().openapi({ type: 'string', format: 'binary' }) }),
    },
    answers: { 200: { description: 'Stored, safe from a power cut', schema: uploadResult } },
    errors: [400, 401, 403, 404, 413],
  },
  async handle(call) {
    try {
      const caller = await uploadCaller(call)
      const place = parseFolderPlace(call.request.headers.get('x-folder-id'))
      if (caller.kind === 'guest')
        await admitGuest(call, caller.bucket, call.request.headers.has('x-folder-id'))
      return jsonResponse(await uploadAnswer(call, caller, place))
    } catch (error) {
      if (error instanceof Refusal && !call.request.bodyUsed) await leaveBody(call)
      throw error
    }
  },
}

async function uploadAnswer(
  call: Call,
  caller: Caller,
  place: ReturnType<typeof parseFolderPlace>,
): Promise<z.infer<typeof uploadResult>> {
  const file = await receiveFile(call, caller, place)
  return {
    success: true,
    message: 'File uploaded',
    slug: file.slug,
    url: fileUrl(call.site, file.slug),
    file_id: file.id,
    thumbnail_url: thumbnailPath(file.uuid),
    uuid: file.uuid,
    size: file.size,
    sha256: file.sha256,
  }
}

/** Throws Refusal when guests may not upload, not into a folder, or not so often. */
export async function admitGuest(call: Call, bucket: string, intoFolder: boolean): Promise<void> {
  const { config, services } = call.site
  if (intoFolder) {
    throw new Refusal('INVALID_API_KEY', 'Uploading into a folder needs an API key')
  }
  if (!config.guestUploads) {
    throw new Refusal('GUEST_UPLOADS_DISABLED', 'This server takes uploads with an API key only')
  }
  const verdict = await services.rates.take(`guest:${bucket}`, 1, config.guestRateLimit, HOUR)
  if (!verdict.allowed) {
    throw new Refusal(
      'RATE_LIMITED',
      `Guests may upload ${verdict.limit} files an hour; try again later`,
      verdict.resetsIn,
    )
  }
}

const uploadStatus = z
  .object({
    slug: z.string(),
    status: z.enum(['uploading', 'processing', 'completed', 'failed']),
    upload_date: timestampField,
    thumbnail_url: z.string(),
  })
  .openapi('UploadStatus')

export const getUploadStatus = keyedRoute({
  method: 'get',
  path: '/api/v1/upload/status',
  summary: 'How far an upload of yours is',
  tag: 'Uploads',
  query: z.object({ slug: z.string('must be the slug of the file').min(1, 'must be the slug of the file') }),
  answer: uploadStatus,
  errors: [400, 404],
  async handle({ call, caller, query }) {
    // By slug alone: a number here is a slug that does not exist, not an id.
    const file = await call.site.services.files.get(caller.account, {
      kind: 'slug',
      slug: query.slug as Slug,
    })
    return {
      slug: file.slug,
      status: 'completed',
      upload_date: timestamp(file.created_at),
      thumbnail_url: thumbnailPath(file.uuid),
    }
  },
})
