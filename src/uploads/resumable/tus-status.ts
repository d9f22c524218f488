import type { CompletedContribution, CompletedUpload, PresentUpload } from '../../contract/uploads.ts'
import type { Caller } from '../../core/callers.ts'
import { jsonResponse } from '../../server/answers/json.ts'
import type { Call } from '../../server/call.ts'
import { toContributionResult, toStoredUpload, toUnfinishedUpload } from '../upload-answers.ts'
import type { UploadsPart } from '../uploads.part.ts'
import { assertTus, BEFORE_OFFSET, mostBefore } from './tus-headers.ts'
import { stateHeaders } from './tus-state.ts'

/** Ends an append whose client is gone, so that the offset stays true. */
export async function headUpload(
  call: Call,
  uploads: UploadsPart,
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
  uploads: UploadsPart,
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
  uploads: UploadsPart,
  caller: Caller,
  name: string,
): Promise<Response> {
  assertTus(call)
  await uploads.resumable.terminate(caller, name)
  return new Response(null, { status: 204 })
}
