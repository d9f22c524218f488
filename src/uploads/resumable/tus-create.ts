import { type StartedUpload, UPLOADS_PATH } from '../../contract/uploads.ts'
import type { Caller, Sender } from '../../core/callers.ts'
import { Refusal } from '../../domain/errors.ts'
import { type FolderPlace, parseFolderPlace, type UploadToken } from '../../domain/ids.ts'
import { type Answers, ASKED_FIELDS } from '../../domain/upload-terms.ts'
import { jsonResponse } from '../../server/answers/answers.ts'
import type { Call } from '../../server/call.ts'
import { idempotencyKeyRefused } from '../contributions.ts'
import { decodedWords } from '../sent-file-name.ts'
import { toUnfinishedUpload } from '../upload-answers.ts'
import type { UploadsPart } from '../uploads.part.ts'
import type { ResumableUpload } from './resumable-uploads.ts'
import { takeChunk } from './tus-append.ts'
import {
  assertTus,
  declaredSize,
  hasChunk,
  lengthsOfParts,
  parseConcat,
  parseMetadata,
  pathNames,
} from './tus-headers.ts'
import { guestsReceipt, stateHeaders } from './tus-status.ts'
import type { NewUpload } from './upload-creation.ts'

export async function createUpload(call: Call, uploads: UploadsPart, caller: Sender): Promise<Response> {
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
  uploads: UploadsPart,
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
    // Guests have no folders.
    path: caller.kind === 'guest' ? [] : path.slice(0, -1),
    ...(caller.kind === 'contributor' ? { answers: answersIn(metadata) } : {}),
    name: decodedWords(metadata.get('filename') ?? metadata.get('name') ?? path.at(-1) ?? ''),
    declaredType: printable(metadata.get('filetype') ?? metadata.get('type')),
    metadata: header,
  }
  const concat = request.headers.get('upload-concat')
  const concatenation = parseConcat(concat)
  const key = request.headers.get('idempotency-key')
  if (concatenation === null || concat === null) {
    const size = declaredSize(request)
    const lengths = lengthsOfParts(request, size)
    if (lengths === null) return { ...common, content: { kind: 'whole', size } }
    if (hasChunk(request)) throw new Refusal('INVALID_REQUEST', 'Send the bytes to the parts')
    return { ...common, content: { kind: 'in parts', lengths, key } }
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
