import type { CompletedContribution, CompletedUpload, PresentUpload } from '../../contract/uploads.ts'
import type { Caller } from '../../core/callers.ts'
import { GUESTS } from '../../domain/ids.ts'
import { fileUrl } from '../../files/file-answers.ts'
import { jsonResponse } from '../../server/answers/answers.ts'
import type { Call, Site } from '../../server/call.ts'
import {
  addGuestReceipt,
  setReceiptHeader,
  toContributionResult,
  toStoredUpload,
  toUnfinishedUpload,
} from '../upload-answers.ts'
import type { UploadsPart } from '../uploads.part.ts'
import type { ResumableUpload } from './resumable-uploads.ts'
import { assertTus, BEFORE_OFFSET, mostBefore } from './tus-headers.ts'

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

export function stateHeaders(
  site: Site,
  { resumable }: Pick<UploadsPart, 'resumable'>,
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
  uploads: UploadsPart,
  { account_id, link_id, kind, uuid }: ResumableUpload,
): { receipt?: string } {
  if (link_id !== null) return setReceiptHeader(call, uploads.receipts.ofContribution(uuid))
  return account_id === GUESTS && kind !== 'partial' ? addGuestReceipt(call, uploads, uuid) : {}
}
