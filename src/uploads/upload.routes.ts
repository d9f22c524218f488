import { z } from '@hono/zod-openapi'
import * as mini from 'zod/mini'
import { described } from '../contract/fields.ts'
import { type UploadStatus, uploadResult, uploadStatus } from '../contract/uploads.ts'
import type { Caller } from '../core/callers.ts'
import { timestamp } from '../domain/clock.ts'
import { parseSlug, type Slug, type Uuid } from '../domain/ids.ts'
import type { FilesModule } from '../files/files.module.ts'
import { jsonResponse } from '../server/answers/answers.ts'
import { bodyOfBytes, type Documentation, endpoint, fileField, keyedEndpoint } from '../server/endpoint.ts'
import { type ThumbnailProgress, type Thumbnails, thumbnailPath } from '../thumbnails/thumbnails.ts'
import { formUpload } from './form-upload.ts'
import { drainUnread, rawUpload, receiveFile, senderOf } from './receive.ts'
import { reportedState, toUploadResult } from './upload-answers.ts'
import type { UploadsModule } from './uploads.module.ts'

const headers = z.object({
  'X-Folder-ID': z.string().optional().openapi({ description: 'Folder to upload into; needs a key' }),
  'Holdfast-Transfer': z.string().optional().openapi({
    description: 'The receipt of a guest’s transfer, into which the file goes',
  }),
  'Idempotency-Key': z.string().optional().openapi({
    description:
      'Sent again within 24 hours for the same name, folder and length, it answers the first result',
  }),
})
const errors = [400, 401, 403, 404, 409, 413, 422]
const answerHeaders = z.object({
  'Holdfast-Receipt': z.string().optional().openapi({ description: 'Of a guest: deletes the file' }),
})

export const uploadFile = endpoint({
  documentation: {
    summary: 'Upload a file',
    description: 'Without a key, as a guest.',
    tag: 'Uploads',
    headers,
    body: {
      type: 'multipart/form-data',
      schema: z.object({ file: fileField }),
    },
    answers: {
      200: { description: 'Stored, safe from a power cut', schema: uploadResult, headers: answerHeaders },
    },
    errors,
  },
  async handle(call, { uploads }: { uploads: UploadsModule }, caller: Caller) {
    const format = formUpload(call.request)
    const { sender, folder } = await senderOf(call, uploads, caller)
    const file = await receiveFile(call, uploads, sender, { folder, format })
    return jsonResponse(toUploadResult(call, uploads, sender, file))
  },
  refused: drainUnread,
})

const named = {
  summary: 'Upload a file as the request body',
  description: 'As "curl -T" does; without a key, as a guest.',
  params: z.object({ name: z.string().openapi({ description: 'The name of the file' }) }),
}

/** An Idempotency-Key applies to one route, hence to one path. */
function rawEndpoint(
  route: string,
  {
    errors: more = [],
    ...documentation
  }: Pick<Documentation, 'summary' | 'description' | 'params'> & { readonly errors?: readonly number[] },
) {
  return endpoint({
    documentation: {
      ...documentation,
      tag: 'Uploads',
      headers,
      body: bodyOfBytes('application/octet-stream'),
      answers: {
        200: {
          description:
            'Stored, safe from a power cut: the link and a newline, or JSON where Accept asks for it',
          headers: answerHeaders,
          schema: uploadResult,
          text: described(mini.string(), { example: 'https://files.example.org/d/Kx3RmP7vTq2a\n' }),
        },
      },
      errors: [...errors, ...more],
    },
    async handle(call, { uploads }: { uploads: UploadsModule }, caller: Caller) {
      const format = rawUpload(call, call.params.name !== undefined, route)
      const { sender, folder } = await senderOf(call, uploads, caller)
      const file = await receiveFile(call, uploads, sender, { folder, format })
      const result = toUploadResult(call, uploads, sender, file)
      return asksForJson(call.request) ? jsonResponse(result) : textResponse(`${result.url}\n`)
    },
    refused: drainUnread,
  })
}

export const putUpload = rawEndpoint('raw', named)
/** `curl -T file https://host/` puts the file there. Matches after all other routes. */
export const putAtTop = rawEndpoint('raw at the top', { ...named, errors: [405] })
/** `some-command | curl -T - https://host/` adds no name to the address. */
export const putUnnamed = rawEndpoint('raw without a name', {
  summary: 'Upload a file without a name',
  description: 'As "curl -T -" does, under a name that fits what it is.',
})

export function asksForJson(request: Request): boolean {
  const accepted = (request.headers.get('accept') ?? '').toLowerCase().split(',')
  return accepted.some((range) => /^\s*application\/json\s*(;(?!.*q=0(\.0*)?\s*$)|$)/.test(range))
}

export function textResponse(text: string): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': String(text.length) }
  return new Response(text, { headers })
}

export const getUploadStatus = keyedEndpoint({
  summary: 'Get the status of an upload',
  tag: 'Uploads',
  query: z.object({ slug: z.string('must be the slug of the file').min(1, 'must be the slug of the file') }),
  answer: uploadStatus,
  errors: [400, 404],
  async handle(
    { caller, query },
    { files, thumbnails, uploads }: { files: FilesModule; thumbnails: Thumbnails; uploads: UploadsModule },
  ) {
    const slug = parseSlug(query.slug)
    const upload = await uploads.resumable.bySlug(caller, slug)
    if (upload !== null && upload.state !== 'completed') {
      const thumbnail = upload.state === 'failed' ? 'none' : 'pending'
      return statusOf(slug, reportedState(upload), upload, upload.created_at, thumbnail)
    }
    // By slug alone: a number here is a slug that does not exist, not an id.
    const file = await files.get(caller, { kind: 'slug', slug })
    const { uuid, size, created_at } = file
    const whole = { uuid, received: size, size }
    return statusOf(slug, 'completed', whole, created_at, thumbnails.progress(file))
  },
})

function statusOf(
  slug: Slug,
  status: UploadStatus['status'],
  { uuid, received, size }: { readonly uuid: Uuid; readonly received: number; readonly size: number | null },
  date: number,
  thumbnail: ThumbnailProgress,
): UploadStatus {
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
