import { GUESTS } from '../../domain/ids.ts'
import { fileUrl } from '../../files/file-answers.ts'
import type { Call, Site } from '../../server/call.ts'
import { addGuestReceipt, setReceiptHeader } from '../upload-answers.ts'
import type { UploadsPart } from '../uploads.part.ts'
import type { ResumableUpload } from './resumable-uploads.ts'

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
