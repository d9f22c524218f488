import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import type { UploadName } from '../../domain/ids.ts'
import { CHECKSUM_ALGORITHMS } from '../../services/chunk-checksum.ts'
import { startedUpload, unfinishedUpload, uploadResult } from '../api/upload-answers.ts'
import type { Call } from '../call.ts'
import { preflight } from '../preflight.ts'
import type { Documentation, Method, Route, RouteParts } from '../route.ts'
import { UPLOADS_PATH } from './paths.ts'
import { leaveBody } from './receive.ts'
import { appendToUpload } from './tus-append.ts'
import { createUpload } from './tus-create.ts'
import { TUS_VERSION } from './tus-headers.ts'
import { deleteUpload, getUpload, headUpload } from './tus-look.ts'

/** Resumable uploads by the tus protocol 1.0.0. */

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'checksum',
  'termination',
  'concatenation',
]

const UPLOAD_PATH = `${UPLOADS_PATH}/{upload}`

type Handle = (call: Call, name: UploadName) => Promise<Response>

const handlers: Readonly<Record<string, Handle>> = {
  HEAD: headUpload,
  GET: getUpload,
  PATCH: appendToUpload,
  DELETE: deleteUpload,
}

/**
 * What may be asked of one upload. Where a client cannot send a method, it sends POST, and a header names the one that is
 * meant. A header beside any other method counts for nothing: by its own method a request is judged, and let in.
 */
async function handleUpload(call: Call): Promise<Response> {
  const { headers, method } = call.request
  const meant = method === 'POST' ? headers.get('x-http-method-override')?.toUpperCase() : undefined
  const handle = handlers[meant ?? method]
  if (handle === undefined) {
    throw new Refusal('METHOD_NOT_ALLOWED', 'Use HEAD, GET, PATCH or DELETE here')
  }
  return handle(call, (call.params.upload ?? '') as UploadName)
}

/** Every answer says that the protocol is spoken. */
const SPEAKING_TUS = { 'Tus-Resumable': TUS_VERSION }

/** What a refused request still sends is dealt with. */
function leavingBodies(handle: (call: Call) => Promise<Response>): Route['handle'] {
  return async (call) => {
    try {
      return await handle(call)
    } catch (error) {
      if (error instanceof Refusal && call.request.body?.locked !== true) await leaveBody(call)
      throw error
    }
  }
}

/** What the server can do, and whom it lets ask. */
function capabilities(allowed: readonly string[]): Route['handle'] {
  return async (call) => {
    const response = preflight([...allowed, 'OPTIONS'])
    const { maxFileSize } = call.site.config
    response.headers.set('Tus-Version', TUS_VERSION)
    response.headers.set('Tus-Extension', EXTENSIONS.join(','))
    response.headers.set('Tus-Max-Size', String(maxFileSize))
    response.headers.set('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS.join(','))
    return response
  }
}

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
/** What answers about an upload say in their headers. */
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
const bytes = {
  type: 'application/offset+octet-stream',
  schema: z.string().openapi({ type: 'string', format: 'binary' }),
}

type Parts = [
  method: Method,
  path: string,
  documentation: Omit<Documentation, 'tag'>,
  handle: Route['handle'],
]

function route(...parts: Parts): Route {
  return { ...routeParts(...parts), auth: 'optional', need: 'upload' }
}

function routeParts(...[method, path, documentation, handle]: Parts): RouteParts {
  return {
    method,
    path,
    documentation: { ...documentation, tag: 'Uploads' },
    streams: 'in',
    always: SPEAKING_TUS,
    handle,
  }
}

const present = z.union([
  uploadResult.extend({ status: z.literal('completed'), received: z.number().int() }),
  unfinishedUpload.extend({ success: z.literal(true) }),
])

export const tusRoutes: readonly Route[] = [
  route(
    'post',
    UPLOADS_PATH,
    {
      summary: 'Start a resumable upload (tus 1.0.0); its address is in Location',
      headers: z.object({
        'Tus-Resumable': tusHeader,
        'Upload-Length': z.string().optional(),
        'Upload-Defer-Length': z.literal('1').optional(),
        'Upload-Metadata': z.string().optional().openapi({
          description:
            'filename, filetype, folder (identifier, needs a key), relativePath, lastModified (milliseconds since 1970)',
        }),
        'Upload-Concat': z.string().optional(),
        'Upload-Checksum': checksumHeader,
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
    leavingBodies(createUpload),
  ),
  route(
    'patch',
    UPLOAD_PATH,
    {
      summary: 'Add bytes to an upload',
      params,
      headers: z.object({
        'Tus-Resumable': tusHeader,
        'Upload-Offset': z.string(),
        'Upload-Length': z.string().optional(),
        'Upload-Checksum': checksumHeader,
      }),
      body: bytes,
      answers: {
        204: {
          description: 'Safe up to Upload-Offset; with the last byte, the file is stored',
          headers: stateHeader.extend({ 'Holdfast-Receipt': receiptHeader }),
        },
      },
      errors: [400, 404, 409, 410, 412, 413, 415, 423, 460],
    },
    leavingBodies(handleUpload),
  ),
  route(
    'get',
    UPLOAD_PATH,
    {
      summary:
        'How far an upload is, and after its end the file; HEAD answers Upload-Offset, to go on from there',
      params,
      answers: { 200: { description: 'The upload', headers: stateHeader, schema: present } },
      errors: [404, 405, 410, 412, 423],
    },
    leavingBodies(handleUpload),
  ),
  route(
    'delete',
    UPLOAD_PATH,
    {
      summary: 'Give an upload up; the file of a completed one stays',
      params,
      headers: z.object({ 'Tus-Resumable': tusHeader }),
      answers: { 204: { description: 'Gone' } },
      errors: [404, 405, 412, 423],
    },
    leavingBodies(handleUpload),
  ),
  route(
    'post',
    UPLOAD_PATH,
    {
      summary: 'The same as PATCH, DELETE or HEAD, for clients that can only send POST',
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
    },
    leavingBodies(handleUpload),
  ),
  ...[
    { path: UPLOADS_PATH, allowed: ['GET', 'HEAD', 'POST'] },
    { path: UPLOAD_PATH, allowed: ['GET', 'HEAD', 'PATCH', 'POST', 'DELETE'] },
  ].map(({ path, allowed }) => ({
    ...routeParts(
      'options',
      path,
      {
        summary: 'What this server knows of the tus protocol',
        ...(path === UPLOAD_PATH ? { params } : {}),
        answers: { 204: { description: 'In the headers', headers: capabilityHeaders } },
        errors: [],
      },
      capabilities(allowed),
    ),
    auth: 'none' as const,
  })),
]
