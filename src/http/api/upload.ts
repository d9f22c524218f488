import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { type FolderPlace, parseFolderPlace, type Slug, type Uuid } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import type { StoredFile } from '../../services/stored-file.ts'
import type { ThumbnailProgress } from '../../services/thumbnails.ts'
import { type Call, uploadCaller } from '../call.ts'
import { jsonResponse } from '../json.ts'
import { keyedRoute, type Route } from '../route.ts'
import { leaveBody, receiveFile } from '../uploads/receive.ts'
import { timestampField } from './fields.ts'
import { thumbnailPath } from './file-answers.ts'
import { admitGuest } from './guests.ts'
import { toUploadResult, uploadResult, uploadStates } from './upload-answers.ts'

export const uploadFile: Route = {
  method: 'post',
  path: '/api/v1/upload',
  auth: 'optional',
  need: 'upload',
  documentation: {
    summary: 'Upload a file; without a key as a guest',
    tag: 'Uploads',
    headers: z.object({
      'X-Folder-ID': z.string().optional().openapi({ description: 'Folder to upload into; needs a key' }),
      'Idempotency-Key': z.string().optional().openapi({
        description: 'Sent again within 24 hours, it answers what the first request led to',
      }),
    }),
    body: {
      type: 'multipart/form-data',
      schema: z.object({ file: z.string().openapi({ type: 'string', format: 'binary' }) }),
    },
    answers: { 200: { description: 'Stored, safe from a power cut', schema: uploadResult } },
    errors: [400, 401, 403, 404, 409, 413],
  },
  streams: 'in',
  async handle(call) {
    try {
      const caller = await uploadCaller(call)
      const place = parseFolderPlace(call.request.headers.get('x-folder-id'))
      if (caller.kind === 'guest')
        await admitGuest(call, caller.bucket, call.request.headers.has('x-folder-id'))
      return jsonResponse(toUploadResult(call.site, await receiveOnce(call, caller, place)))
    } catch (error) {
      if (error instanceof Refusal && call.request.body?.locked !== true) await leaveBody(call)
      throw error
    }
  },
}

/** The longest key that is taken, and the shortest of a guest, whose keys are all guests'. */
const LONGEST_KEY = 255
const SHORTEST_GUEST_KEY = 16

/** Throws Refusal INVALID_REQUEST for a key that nobody could rely on. */
function idempotencyKey(request: Request, caller: Caller): string | null {
  const key = request.headers.get('idempotency-key')
  if (key === null) return null
  const shortest = caller.kind === 'guest' ? SHORTEST_GUEST_KEY : 1
  if (key.length >= shortest && key.length <= LONGEST_KEY) return key
  throw new Refusal('INVALID_REQUEST', `An Idempotency-Key has ${shortest} to ${LONGEST_KEY} characters`)
}

/** The file, received now or by an earlier request with the same Idempotency-Key. */
async function receiveOnce(call: Call, caller: Caller, place: FolderPlace): Promise<StoredFile> {
  const key = idempotencyKey(call.request, caller)
  if (key === null) return receiveFile(call, caller, place)
  const begun = await call.site.services.idempotency.begin(caller, key)
  if ('file' in begun) {
    await leaveBody(call)
    return begun.file
  }
  try {
    return await receiveFile(call, caller, place, begun.first.record)
  } finally {
    await begun.first.end()
  }
}

const thumbnailProgress = z.enum(['pending', 'ready', 'none']).openapi({
  description: 'Whether a thumbnail is there, may still come, or will not',
})

const uploadStatus = z
  .object({
    slug: z.string(),
    status: uploadStates,
    received: z.number().int().openapi({ description: 'Bytes that are safe' }),
    size: z.number().int().nullable().openapi({ description: 'null while nobody has said it' }),
    upload_date: timestampField,
    thumbnail_url: z.string(),
    has_thumbnail: z.boolean(),
    thumbnail: thumbnailProgress,
  })
  .openapi('UploadStatus')

export const getUploadStatus = keyedRoute({
  method: 'get',
  path: '/api/v1/upload/status',
  need: 'upload',
  summary: 'How far an upload of yours is',
  tag: 'Uploads',
  query: z.object({ slug: z.string('must be the slug of the file').min(1, 'must be the slug of the file') }),
  answer: uploadStatus,
  errors: [400, 404],
  async handle({ call, caller, query }) {
    const { files, resumable } = call.site.services
    const slug = query.slug as Slug
    const upload = await resumable.bySlug(caller, slug)
    if (upload !== null && upload.state !== 'completed') {
      const thumbnail = upload.state === 'failed' ? 'none' : 'pending'
      return statusOf(slug, upload.state, upload, upload.created_at, thumbnail)
    }
    // By slug alone: a number here is a slug that does not exist, not an id.
    const file = await files.get(caller, { kind: 'slug', slug })
    const { uuid, size, created_at } = file
    const whole = { uuid, received: size, size }
    return statusOf(slug, 'completed', whole, created_at, call.site.services.thumbnails.progress(file))
  },
})

function statusOf(
  slug: Slug,
  status: z.infer<typeof uploadStates>,
  { uuid, received, size }: { readonly uuid: Uuid; readonly received: number; readonly size: number | null },
  date: number,
  thumbnail: ThumbnailProgress,
): z.infer<typeof uploadStatus> {
  return {
    slug,
    status,
    received,
    size,
    upload_date: timestamp(date),
    thumbnail_url: thumbnailPath(uuid),
    has_thumbnail: thumbnail === 'ready',
    thumbnail,
  }
}
