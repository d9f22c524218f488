import type { UploadName } from '../../domain/ids.ts'
import { toStoredUpload, toUnfinishedUpload } from '../api/upload-answers.ts'
import { bytesCaller, type Call, uploadCaller } from '../call.ts'
import { jsonResponse } from '../json.ts'
import { assertTus } from './tus-headers.ts'
import { stateHeaders } from './tus-state.ts'

/** HEAD: where to go on. Ends a sitting whose sender is gone, so that the offset stays true. */
export async function headUpload(call: Call, name: UploadName): Promise<Response> {
  const caller = await bytesCaller(call)
  assertTus(call)
  const upload = await call.site.services.resumable.atRest(caller, name)
  return new Response(null, { headers: stateHeaders(call.site, upload) })
}

/** GET: how far it is, without disturbing anybody; after the end what the upload led to. */
export async function getUpload(call: Call, name: UploadName): Promise<Response> {
  const caller = await uploadCaller(call)
  const { resumable } = call.site.services
  const found = await resumable.find(caller, name)
  const upload = found.state === 'processing' ? await resumable.atRest(caller, name) : found
  if (upload.state === 'completed' && upload.kind !== 'partial') {
    const file = await resumable.result(caller, upload)
    return jsonResponse({ ...toStoredUpload(call.site, file), status: 'completed', received: file.size })
  }
  return jsonResponse({ success: true, ...toUnfinishedUpload(call.site, upload) })
}

/** DELETE: gives the upload up. */
export async function deleteUpload(call: Call, name: UploadName): Promise<Response> {
  const caller = await uploadCaller(call)
  assertTus(call)
  await call.site.services.resumable.terminate(caller, name)
  return new Response(null, { status: 204 })
}
