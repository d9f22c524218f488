import { z } from '@hono/zod-openapi'
import { startedUpload, uploadAnswer } from '../../contract/uploads.ts'
import type { Caller } from '../../core/callers.ts'
import { type Call, type MeantMethod, meantMethod } from '../../server/call.ts'
import { bodyOfBytes, type Documentation, endpoint } from '../../server/endpoint.ts'
import { preflight } from '../../server/router.ts'
import { drainUnread } from '../receive.ts'
import type { UploadsPart } from '../uploads.part.ts'
import { CHECKSUM_ALGORITHMS } from './chunk-checksum.ts'
import { appendToUpload } from './tus-append.ts'
import { createUpload } from './tus-create.ts'
import { TUS_VERSION } from './tus-headers.ts'
import { deleteUpload, getUpload, headUpload } from './tus-status.ts'

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'checksum',
  'termination',
  'concatenation',
  'concatenation-unfinished',
]

type Handle = (call: Call, uploads: UploadsPart, caller: Caller, name: string) => Promise<Response>

const handlers: Readonly<Record<MeantMethod, Handle>> = {
  HEAD: headUpload,
  GET: getUpload,
  PATCH: appendToUpload,
  DELETE: deleteUpload,
}

const SPEAKING_TUS = { 'Tus-Resumable': TUS_VERSION }

const params = z.object({
  upload: z.string().openapi({
    description:
      'The last part of the upload’s address, from Location or from the list of unfinished uploads',
  }),
})
const tusHeader = z.literal(TUS_VERSION)
const checksumHeader = z
  .string()
  .optional()
  .openapi({ description: 'Algorithm (sha1, sha256, crc32c) and the body’s checksum in base64' })
const stateHeader = z.object({
  'Upload-Offset': z.string().openapi({ description: 'Bytes that are safe' }),
  'Upload-Length': z.string().optional(),
  'Upload-Expires': z.string().optional(),
  'Holdfast-Slug': z.string().optional(),
  'Holdfast-Url': z.string().optional().openapi({ description: 'The public page' }),
})
const receiptHeader = z.string().optional().openapi({ description: 'Of a guest: deletes the upload' })
const capabilityHeaders = z.object({
  'Tus-Version': z.string(),
  'Tus-Extension': z.string(),
  'Tus-Max-Size': z.string(),
  'Tus-Checksum-Algorithm': z.string(),
})

function uploadEndpoint(documentation: Omit<Documentation, 'tag'>) {
  return endpoint({
    documentation: { ...documentation, tag: 'Uploads' },
    always: SPEAKING_TUS,
    handle: (call, { uploads }: { uploads: UploadsPart }, caller: Caller) =>
      handlers[meantMethod(call.request)](call, uploads, caller, call.params.upload ?? ''),
    refused: drainUnread,
  })
}

function capabilities(allowed: readonly string[], of: Pick<Documentation, 'params'>) {
  return endpoint({
    documentation: {
      summary: 'Get the capabilities of tus',
      description: 'The versions and extensions of the protocol that this server has.',
      tag: 'Uploads',
      ...of,
      answers: { 204: { description: 'In the headers', headers: capabilityHeaders } },
      errors: [],
    },
    always: SPEAKING_TUS,
    async handle(call) {
      const response = preflight([...allowed, 'OPTIONS'])
      const { maxFileSize } = call.site.config
      response.headers.set('Tus-Version', TUS_VERSION)
      response.headers.set('Tus-Extension', EXTENSIONS.join(','))
      response.headers.set('Tus-Max-Size', String(maxFileSize))
      response.headers.set('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS.join(','))
      return response
    },
  })
}

export const startUpload = endpoint({
  documentation: {
    tag: 'Uploads',
    summary: 'Create a resumable upload',
    description: 'By tus 1.0.0. Its address is in Location.',
    headers: z.object({
      'Tus-Resumable': tusHeader,
      'Upload-Length': z.string().optional(),
      'Upload-Defer-Length': z.literal('1').optional(),
      'Upload-Metadata': z.string().optional().openapi({
        description:
          'filename, filetype, folder (identifier, needs a key), relativePath, lastModified (milliseconds since 1970)',
      }),
      'Upload-Concat': z.string().optional(),
      'Holdfast-Parts': z.string().optional().openapi({
        description:
          'Lengths with commas between them, together Upload-Length: parts to send the bytes to, created at once and named in Upload-Concat of the answer',
      }),
      'Idempotency-Key': z.string().optional().openapi({
        description:
          'Of a final upload, or one with Holdfast-Parts: the same request, repeated, finds the upload that it has created',
      }),
      'Upload-Checksum': checksumHeader,
      'X-Folder-ID': z.string().optional().openapi({
        description: 'As "folder" in Upload-Metadata; where both are sent they must name the same folder',
      }),
    }),
    answers: {
      201: {
        description: 'Started; the link works as soon as the bytes are here',
        headers: stateHeader.extend({ Location: z.string(), 'Holdfast-Receipt': receiptHeader }),
        schema: startedUpload,
      },
    },
    errors: [400, 404, 409, 410, 412, 413, 423, 460],
  },
  always: SPEAKING_TUS,
  handle: (call, { uploads }: { uploads: UploadsPart }, caller: Caller) =>
    createUpload(call, uploads, caller),
  refused: drainUnread,
})

export const patchUpload = uploadEndpoint({
  summary: 'Append bytes to an upload',
  params,
  headers: z.object({
    'Tus-Resumable': tusHeader,
    'Upload-Offset': z.string(),
    'Upload-Length': z.string().optional(),
    'Upload-Checksum': checksumHeader,
  }),
  body: bodyOfBytes('application/offset+octet-stream'),
  answers: {
    204: {
      description: 'Safe up to Upload-Offset; with the last byte, the file is stored',
      headers: stateHeader.extend({ 'Holdfast-Receipt': receiptHeader }),
    },
  },
  errors: [400, 404, 409, 410, 412, 413, 415, 423, 460],
})

export const lookAtUpload = uploadEndpoint({
  summary: 'Get an upload',
  description:
    'How many bytes have arrived, and after the last one the file. HEAD answers Upload-Offset, from which to continue.',
  params,
  answers: { 200: { description: 'The upload', schema: uploadAnswer } },
  head: {
    summary: 'Get the offset of an upload',
    description: 'From which byte to continue. Ends an append whose sender is gone.',
    headers: z.object({
      'Tus-Resumable': tusHeader,
      'Holdfast-Before': z.string().optional().openapi({
        description:
          '1 to 65536: asks what so many bytes right before the offset hash to, so that a client tells whether it has the same file',
      }),
    }),
    answers: {
      200: {
        description: 'In the headers',
        headers: stateHeader.extend({
          'Holdfast-Before': z.string().optional().openapi({
            description:
              'Where it was asked for: the number of bytes, fewer where only so many can be read, a space, and their SHA-256 in hexadecimal; missing where none can be read',
            example: '65536 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          }),
        }),
      },
    },
  },
  errors: [400, 404, 405, 410, 412, 423],
})

export const giveUpUpload = uploadEndpoint({
  summary: 'Terminate an upload',
  description: 'The file of a completed one stays.',
  params,
  headers: z.object({ 'Tus-Resumable': tusHeader }),
  answers: { 204: { description: 'Gone' } },
  errors: [404, 405, 412, 423],
})

export const postToUpload = uploadEndpoint({
  summary: 'Act on an upload by POST',
  description: 'PATCH, DELETE or HEAD, by X-HTTP-Method-Override, for clients that can only send POST.',
  params,
  headers: z.object({
    'Tus-Resumable': tusHeader,
    'X-HTTP-Method-Override': z.enum(['PATCH', 'DELETE', 'HEAD']),
  }),
  answers: {
    204: { description: 'As the method that was meant', headers: stateHeader },
    200: { description: 'As HEAD', headers: stateHeader },
  },
  errors: [400, 404, 405, 409, 410, 412, 413, 415, 423, 460],
})

export const uploadsCapabilities = capabilities(['GET', 'HEAD', 'POST'], {})

export const uploadCapabilities = capabilities(['GET', 'HEAD', 'PATCH', 'POST', 'DELETE'], { params })
