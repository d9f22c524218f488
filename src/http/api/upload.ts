import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { type FolderPlace, parseFolderPlace, type Slug, type Uuid } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import type { ThumbnailProgress } from '../../services/thumbnails.ts'
import { type Call, keyOrGuest, uploadCaller } from '../call.ts'
import { jsonResponse } from '../json.ts'
import { keyedRoute, type Route } from '../route.ts'
import { formUpload } from '../uploads/form-upload.ts'
import { TOP_UPLOAD_PATH } from '../uploads/paths.ts'
import { rawUpload } from '../uploads/raw-body.ts'
import { leaveBody, receiveFile } from '../uploads/receive.ts'
import { timestampField } from './fields.ts'
import { thumbnailPath } from './file-answers.ts'
import { admitGuest } from './guests.ts'
import { toUploadResult, uploadResult, uploadStates } from './upload-answers.ts'

const headers = z.object({
  'X-Folder-ID': z.string().optional().openapi({ description: 'Folder to upload into; needs a key' }),
  'Idempotency-Key': z.string().optional().openapi({
    description:
      'Sent again within 24 hours for the same name, folder and length, it answers the first result',
  }),
})
const errors = [400, 401, 403, 404, 409, 413, 422]
const answerHeaders = z.object({
  'Holdfast-Receipt': z.string().optional().openapi({ description: 'Of a guest: deletes the file' }),
})

export const uploadFile: Route = {
  method: 'post',
  path: '/api/v1/upload',
  auth: 'optional',
  need: 'upload',
  documentation: {
    summary: 'Upload a file; without a key as a guest',
    tag: 'Uploads',
    headers,
    body: {
      type: 'multipart/form-data',
      schema: z.object({ file: z.string().openapi({ type: 'string', format: 'binary' }) }),
    },
    answers: {
      200: { description: 'Stored, safe from a power cut', schema: uploadResult, headers: answerHeaders },
    },
    errors,
  },
  streams: 'in',
  handle: (call) =>
    leavingBody(call, async () => {
      const caller = await uploadCaller(call)
      const place = await admittedPlace(call, caller)
      return toUploadResult(call, caller, await receiveFile(call, caller, place, formUpload(call.request)))
    }).then((result) => jsonResponse(result)),
}

/** A file as the body itself, as `curl -T` sends it. Cookies count for nothing: without a key the caller is a guest. */
async function putFile(call: Call): Promise<Response> {
  const result = await leavingBody(call, async () => {
    const caller = await keyOrGuest(call)
    const place = await admittedPlace(call, caller)
    const carrier = rawUpload(call.request, call.params.name ?? '')
    return toUploadResult(call, caller, await receiveFile(call, caller, place, carrier))
  })
  return asksForJson(call.request) ? jsonResponse(result) : textResponse(`${result.url}\n`)
}

const rawRoute: Omit<Route & { need: 'upload' }, 'path'> = {
  method: 'put',
  auth: 'optional',
  need: 'upload',
  documentation: {
    summary: 'Upload a file as the body, as "curl -T" does; without a key as a guest',
    tag: 'Uploads',
    params: z.object({ name: z.string().openapi({ description: 'The name of the file' }) }),
    headers,
    body: {
      type: 'application/octet-stream',
      schema: z.string().openapi({ type: 'string', format: 'binary' }),
    },
    answers: {
      200: {
        description:
          'Stored, safe from a power cut: the link and a newline, or JSON where Accept asks for it',
        headers: answerHeaders,
        schema: uploadResult,
        text: z.string().openapi({ example: 'https://files.example.org/d/Kx3RmP7vTq2a\n' }),
      },
    },
    errors,
  },
  streams: 'in',
  handle: putFile,
}

export const putUpload: Route = { ...rawRoute, path: '/api/v1/upload/{name}', others: 'preflight' }
export const putAtTop: Route = { ...rawRoute, path: TOP_UPLOAD_PATH, others: 'nothing' }

/** Where the caller may put the file. Throws Refusal when a guest may not upload, or not there. */
async function admittedPlace(call: Call, caller: Caller): Promise<FolderPlace> {
  const folder = call.request.headers.get('x-folder-id')
  if (caller.kind === 'guest') await admitGuest(call, caller.bucket, folder !== null)
  return parseFolderPlace(folder)
}

/** Deals with the body when the work ends without having begun to read it. */
async function leavingBody<T>(call: Call, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal && call.request.body?.locked !== true) await leaveBody(call)
    throw error
  }
}

/** Whether the answer is to be JSON: it is named, and not as something that is not wanted. */
function asksForJson(request: Request): boolean {
  const accepted = (request.headers.get('accept') ?? '').toLowerCase().split(',')
  return accepted.some((range) => /^\s*application\/json\s*(;(?!.*q=0(\.0*)?\s*$)|$)/.test(range))
}

function textResponse(text: string): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': String(text.length) }
  return new Response(text, { headers })
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
