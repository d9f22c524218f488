import { Refusal } from '../../domain/errors.ts'
import { parseFolderPlace, type UploadToken } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import type { ResumableUpload } from '../../services/resumable-uploads.ts'
import type { NewUpload } from '../../services/upload-creation.ts'
import { admitGuest } from '../api/guests.ts'
import { toUnfinishedUpload } from '../api/upload-answers.ts'
import { type Call, uploadCaller } from '../call.ts'
import { jsonResponse } from '../json.ts'
import { UPLOADS_PATH } from './paths.ts'
import { takeChunk } from './tus-append.ts'
import { assertTus, declaredSize, hasChunk, parseConcat, parseMetadata } from './tus-headers.ts'
import { guestsReceipt, stateHeaders } from './tus-state.ts'

/** POST: starts an upload, with its first bytes where the request brings some. */
export async function createUpload(call: Call): Promise<Response> {
  const caller = await uploadCaller(call)
  assertTus(call)
  const request = newUpload(call, caller)
  if (caller.kind === 'guest') await admitGuest(call, caller.bucket, request.place !== 'root')
  const { token, upload } = await call.site.services.resumable.create(caller, request)
  const location = `${UPLOADS_PATH}/${token}`
  // Also an answer that refuses the first bytes tells where to go on.
  call.headers.set('Location', location)
  const brings = hasChunk(call.request) && upload.state === 'uploading'
  const receipt = guestsReceipt(call, upload)
  const present = brings ? await takeFirst(call, caller, token) : upload
  return jsonResponse(
    { success: true, location, ...toUnfinishedUpload(call.site, present), ...receipt },
    { status: 201, headers: stateHeaders(call.site, present) },
  )
}

/** Takes the bytes that came with the creation. A sender that goes meanwhile never hears of the upload, which ends too. */
async function takeFirst(call: Call, caller: Caller, token: UploadToken): Promise<ResumableUpload> {
  try {
    return await takeChunk(call, caller, token, { offset: 0, size: null })
  } catch (error) {
    if (!(error instanceof Refusal)) {
      await call.site.services.resumable.terminate(caller, token).catch(call.site.report)
    }
    throw error
  }
}

function newUpload({ request }: Call, caller: Caller): NewUpload {
  const header = request.headers.get('upload-metadata') ?? ''
  const metadata = parseMetadata(header)
  const path = (metadata.get('relativePath') ?? '').split('/').filter((name) => name !== '')
  const common = {
    place: parseFolderPlace(metadata.get('folder')),
    // Guests have no folders.
    path: caller.kind === 'guest' ? [] : path.slice(0, -1),
    name: metadata.get('filename') ?? metadata.get('name') ?? path.at(-1) ?? '',
    declaredType: printable(metadata.get('filetype') ?? metadata.get('type')),
    metadata: header,
  }
  const concat = request.headers.get('upload-concat')
  const concatenation = parseConcat(concat)
  if (concatenation === null || concat === null) {
    return { ...common, content: { kind: 'whole', size: declaredSize(request) } }
  }
  if (concatenation.kind === 'partial') {
    return { ...common, content: { kind: 'partial', size: declaredSize(request), concat } }
  }
  if (request.headers.has('upload-length') || request.headers.has('upload-defer-length')) {
    throw new Refusal('INVALID_REQUEST', 'A final upload has the size of its parts: leave Upload-Length out')
  }
  return { ...common, content: { ...concatenation, concat } }
}

/** A type as far as it may be one; what it means is read with the name. */
function printable(type: string | undefined): string | null {
  return type !== undefined && /^[ -~]{1,255}$/.test(type) ? type : null
}
