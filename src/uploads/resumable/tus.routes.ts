import { z } from '@hono/zod-openapi'
import { doneWithMessage } from '../../contract/fields.ts'
import {
  type CompletedContribution,
  type CompletedUpload,
  type PresentUpload,
  type StartedUpload,
  startedUpload,
  UPLOADS_PATH,
  uploadAnswer,
  uploadsAnswer,
} from '../../contract/uploads.ts'
import type { Caller, Sender } from '../../core/callers.ts'
import { Refusal } from '../../domain/errors.ts'
import { type FolderPlace, GUESTS, parseFolderPlace, parseSlug, type UploadToken } from '../../domain/ids.ts'
import { type Answers, ASKED_FIELDS } from '../../domain/upload-terms.ts'
import { jsonResponse, preflight } from '../../server/answers/answers.ts'
import { type Call, fileUrl, type MeantMethod, meantMethod, type Site } from '../../server/call.ts'
import { bodyOfBytes, type Documentation, endpoint, keyedEndpoint } from '../../server/endpoint.ts'
import { idempotencyKeyRefused } from '../contributions.ts'
import { declaredLength, drainBody, drainUnread, emptyBody, minimumRateBody, senderOf } from '../receive.ts'
import { decodedWords } from '../sent-file-name.ts'
import {
  addGuestReceipt,
  publicNames,
  setReceiptHeader,
  toContributionResult,
  toStoredUpload,
  toUnfinishedUpload,
} from '../upload-answers.ts'
import type { UploadsModule } from '../uploads.module.ts'
import type { NewUpload } from './creation.ts'
import type { ResumableUpload } from './resumable-uploads.ts'
import {
  assertTus,
  BEFORE_OFFSET,
  bytesHeader,
  CHECKSUM_ALGORITHMS,
  CHUNK_TYPE,
  declaredSize,
  expectedChecksum,
  hasChunk,
  mostBefore,
  parseConcat,
  parseMetadata,
  pathNames,
  TUS_VERSION,
} from './tus-headers.ts'

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

type Handle = (call: Call, uploads: UploadsModule, caller: Caller, name: string) => Promise<Response>

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
    handle: (call, { uploads }: { uploads: UploadsModule }, caller: Caller) =>
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
      'Idempotency-Key': z.string().optional().openapi({
        description: 'Of a final upload: the same request, repeated, finds the upload that it has created',
      }),
      'Upload-Checksum': checksumHeader,
      'X-Folder-ID': z.string().optional().openapi({
        description: 'As "folder" in Upload-Metadata; where both are sent they must name the same folder',
      }),
      'Holdfast-Transfer': z.string().optional().openapi({
        description:
          'The receipt of a guest’s transfer, into which the file goes; folders of its relativePath are created there',
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
  async handle(call, { uploads }: { uploads: UploadsModule }, caller: Caller) {
    return createUpload(call, uploads, (await senderOf(call, uploads, caller)).sender)
  },
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

export async function createUpload(call: Call, uploads: UploadsModule, caller: Sender): Promise<Response> {
  assertTus(call)
  const header = call.request.headers.get('upload-metadata') ?? ''
  const metadata = parseMetadata(header)
  const folder = call.request.headers.get('x-folder-id')
  const place = placeOf(folder, metadata.get('folder'))
  const namesFolder = folder !== null || place !== 'root'
  if (caller.kind === 'contributor' && namesFolder) {
    throw new Refusal('INVALID_REQUEST', 'The link says which folder it is; name none')
  }
  if (caller.kind === 'contributor' && call.request.headers.has('idempotency-key'))
    throw idempotencyKeyRefused()
  const request = newUpload(call, caller, { header, metadata, place, namesFolder })
  const { token, upload } = await uploads.resumable.create(caller, request)
  const location = `${UPLOADS_PATH}/${token}`
  // A refusal of the first bytes also says where to continue.
  call.headers.set('Location', location)
  const brings = hasChunk(call.request) && upload.state === 'uploading'
  const receipt = guestsReceipt(call, uploads, upload)
  const present = brings ? await takeFirst(call, uploads, holderOf(caller), token) : upload
  const answer: StartedUpload = {
    success: true,
    location,
    ...toUnfinishedUpload(call.site, uploads, present),
    ...receipt,
  }
  return jsonResponse(answer, { status: 201, headers: stateHeaders(call.site, uploads, present) })
}

/** Once there is an upload, a contributor needs only its token. */
function holderOf(caller: Sender): Caller {
  return caller.kind === 'contributor' ? { kind: 'guest', bucket: caller.bucket } : caller
}

/** A client that leaves meanwhile never learns of the upload, which ends too. */
async function takeFirst(
  call: Call,
  uploads: UploadsModule,
  caller: Caller,
  token: UploadToken,
): Promise<ResumableUpload> {
  try {
    return await takeChunk(call, uploads, caller, token, { offset: 0, size: null })
  } catch (error) {
    if (!(error instanceof Refusal)) {
      await uploads.resumable.terminate(caller, token).catch(call.site.report)
    }
    throw error
  }
}

/** Throws Refusal INVALID_REQUEST where header and metadata differ. */
function placeOf(folder: string | null, inMetadata: string | undefined): FolderPlace {
  const place = parseFolderPlace(folder ?? inMetadata)
  if (inMetadata === undefined || parseFolderPlace(inMetadata) === place) return place
  throw new Refusal('INVALID_REQUEST', 'X-Folder-ID and "folder" in Upload-Metadata name different folders')
}

interface About {
  readonly header: string
  readonly metadata: ReadonlyMap<string, string>
  readonly place: FolderPlace
  readonly namesFolder: boolean
}

function newUpload({ request }: Call, caller: Sender, about: About): NewUpload {
  const { header, metadata, place, namesFolder } = about
  const path = pathNames(metadata)
  const common = {
    place,
    namesFolder,
    // Guests have no folders but those of transfers.
    path: caller.kind === 'guest' && caller.within === undefined ? [] : path.slice(0, -1),
    ...(caller.kind === 'contributor' ? { answers: answersIn(metadata) } : {}),
    name: decodedWords(metadata.get('filename') ?? metadata.get('name') ?? path.at(-1) ?? ''),
    declaredType: printable(metadata.get('filetype') ?? metadata.get('type')),
    metadata: header,
  }
  const concat = request.headers.get('upload-concat')
  const concatenation = parseConcat(concat)
  const key = request.headers.get('idempotency-key')
  if (concatenation === null || concat === null) {
    return { ...common, content: { kind: 'whole', size: declaredSize(request) } }
  }
  if (concatenation.kind === 'partial') {
    return { ...common, content: { kind: 'partial', size: declaredSize(request), concat } }
  }
  if (request.headers.has('upload-length') || request.headers.has('upload-defer-length')) {
    throw new Refusal('INVALID_REQUEST', 'A final upload has the size of its parts: leave Upload-Length out')
  }
  return { ...common, content: { ...concatenation, concat, key } }
}

function answersIn(metadata: ReadonlyMap<string, string>): Answers {
  return Object.fromEntries(ASKED_FIELDS.map((field) => [field, metadata.get(field)]))
}

/** Checks characters only; the name decides its meaning. */
function printable(type: string | undefined): string | null {
  return type !== undefined && /^[ -~]{1,255}$/.test(type) ? type : null
}

export async function appendToUpload(
  call: Call,
  uploads: UploadsModule,
  caller: Caller,
  name: string,
): Promise<Response> {
  assertTus(call)
  if (!hasChunk(call.request)) {
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', `The Content-Type must be ${CHUNK_TYPE}`)
  }
  const offset = bytesHeader(call.request, 'Upload-Offset')
  if (offset === null)
    throw new Refusal(
      'INVALID_REQUEST',
      'Send Upload-Offset: the number of bytes that the server has already',
    )
  const size = bytesHeader(call.request, 'Upload-Length')
  const upload = await takeChunk(call, uploads, caller, name, { offset, size })
  if (upload.state === 'completed') guestsReceipt(call, uploads, upload)
  return new Response(null, { status: 204, headers: stateHeaders(call.site, uploads, upload) })
}

export async function takeChunk(
  call: Call,
  { resumable, senders }: UploadsModule,
  caller: Caller,
  name: string,
  { offset, size }: { readonly offset: number; readonly size: number | null },
): Promise<ResumableUpload> {
  const checksum = expectedChecksum(call.request)
  const length = declaredLength(call.request)
  const source = minimumRateBody(call.request.body ?? emptyBody(), call.site.clock, () =>
    senders.came(caller),
  )
  // A creation with the first bytes has not told its client the address yet.
  const kind = call.params.upload === undefined ? 'whole' : 'resumable'
  const done = call.site.uploadsUnderWay.begin(source.end, kind)
  try {
    return await resumable.append(caller, name, {
      offset,
      size,
      length,
      checksum,
      source,
    })
  } catch (error) {
    // Received bytes are kept: a stopping server need not wait for draining.
    done()
    await source.cancel(error)
    await drainBody(call, length, source)
    throw error
  } finally {
    await source.cancel(null)
    done()
  }
}

/** Ends an append whose client is gone, so that the offset stays true. */
export async function headUpload(
  call: Call,
  uploads: UploadsModule,
  caller: Caller,
  name: string,
): Promise<Response> {
  assertTus(call)
  const most = mostBefore(call.request)
  const upload = await uploads.resumable.atRest(caller, name)
  const headers = stateHeaders(call.site, uploads, upload)
  const before = most === null ? null : await uploads.resumable.bytesBefore(upload, most)
  if (before !== null) headers.set(BEFORE_OFFSET, `${before.length} ${before.sha256}`)
  return new Response(null, { headers })
}

/** Does not interrupt an append. */
export async function getUpload(
  call: Call,
  uploads: UploadsModule,
  caller: Caller,
  name: string,
): Promise<Response> {
  const { resumable } = uploads
  const found = await resumable.find(caller, name)
  const upload = found.state === 'processing' ? await resumable.atRest(caller, name) : found
  if (upload.state === 'completed' && upload.kind !== 'partial') {
    const file = await resumable.result(caller, upload)
    if (upload.link_id !== null) {
      const answer: CompletedContribution = {
        ...toContributionResult(call, uploads, file),
        status: 'completed',
        received: file.size,
      }
      return jsonResponse(answer)
    }
    const answer: CompletedUpload = {
      ...toStoredUpload(call.site, file),
      status: 'completed',
      received: file.size,
    }
    return jsonResponse(answer)
  }
  const answer: PresentUpload = { success: true, ...toUnfinishedUpload(call.site, uploads, upload) }
  return jsonResponse(answer)
}

export async function deleteUpload(
  call: Call,
  uploads: UploadsModule,
  caller: Caller,
  name: string,
): Promise<Response> {
  assertTus(call)
  await uploads.resumable.terminate(caller, name)
  return new Response(null, { status: 204 })
}

export function stateHeaders(
  site: Site,
  { resumable }: Pick<UploadsModule, 'resumable'>,
  upload: ResumableUpload,
): Headers {
  const headers = new Headers({ 'Cache-Control': 'private, no-store' })
  const isJoined = upload.kind !== 'final' || upload.state === 'completed'
  if (isJoined) headers.set('Upload-Offset', String(upload.received))
  if (upload.size === null) headers.set('Upload-Defer-Length', '1')
  else headers.set('Upload-Length', String(upload.size))
  if (upload.metadata !== '') headers.set('Upload-Metadata', upload.metadata)
  if (upload.concat !== null) headers.set('Upload-Concat', upload.concat)
  if (upload.state === 'uploading' || upload.kind === 'partial') {
    headers.set('Upload-Expires', new Date(resumable.expiresAt(upload)).toUTCString())
  }
  if (upload.kind !== 'partial' && upload.link_id === null) {
    headers.set('Holdfast-Slug', upload.slug)
    headers.set('Holdfast-Url', fileUrl(site, upload.slug))
  }
  return headers
}

/** For guests and contributors, when their upload starts or finishes; a partial one never gets a link. */
export function guestsReceipt(
  call: Call,
  uploads: UploadsModule,
  { account_id, link_id, kind, uuid }: ResumableUpload,
): { receipt?: string } {
  if (link_id !== null) return setReceiptHeader(call, uploads.receipts.ofContribution(uuid))
  return account_id === GUESTS && kind !== 'partial' ? addGuestReceipt(call, uploads, uuid) : {}
}

export const listUploads = keyedEndpoint({
  summary: 'List unfinished uploads',
  description: 'Your resumable ones, oldest first.',
  tag: 'Uploads',
  answer: uploadsAnswer,
  async handle({ call, caller }, { uploads }: { uploads: UploadsModule }) {
    const unfinished = await uploads.resumable.list(caller)
    const data = unfinished.map(async (upload) => {
      const metadata = parseMetadata(upload.metadata)
      const named = parseFolderPlace(metadata.get('folder'))
      const depth = Math.max(0, pathNames(metadata).length - 1)
      return {
        ...toUnfinishedUpload(call.site, uploads, upload),
        ...publicNames(call.site, upload),
        location: `${UPLOADS_PATH}/${uploads.resumable.nameForOwner(upload)}`,
        folder: named === 'root' ? await uploads.resumable.startOf(caller, upload, depth) : named,
        path: metadata.get('relativePath') ?? null,
      }
    })
    return { success: true, data: await Promise.all(data) }
  },
})

export const cancelUpload = keyedEndpoint({
  summary: 'Cancel an unfinished upload',
  description: 'A resumable one of yours, also when its address is lost.',
  tag: 'Uploads',
  body: z.object({
    slug: z
      .string('must be the slug of the upload')
      .openapi({ description: 'As the list of uploads has it' }),
  }),
  answer: doneWithMessage,
  errors: [400, 404, 413, 423],
  async handle({ caller, body }, { uploads }: { uploads: UploadsModule }) {
    await uploads.resumable.cancel(caller, parseSlug(body.slug))
    return { success: true, message: 'The upload has ended' }
  },
})
