import type { ContributionResult, UnfinishedUpload, UploadResult } from '../contract/uploads.ts'
import type { Caller } from '../core/callers.ts'
import { timestamp } from '../domain/clock.ts'
import { type Receipt, type Uuid, wholeNumber } from '../domain/ids.ts'
import { type Call, fileUrl, type Site } from '../server/call.ts'
import { thumbnailPath } from '../thumbnails/thumbnails.ts'
import type { StoredFile } from './commit.ts'
import type { ResumableUpload } from './resumable/resumable-uploads.ts'
import { parseMetadata } from './resumable/tus-headers.ts'
import type { UploadsModule } from './uploads.module.ts'

export function toUploadResult(
  call: Pick<Call, 'site' | 'headers'>,
  uploads: Pick<UploadsModule, 'receipts'>,
  caller: Caller,
  file: StoredFile,
): UploadResult {
  return {
    ...toStoredUpload(call.site, file),
    ...(caller.kind === 'guest' ? addGuestReceipt(call, uploads, file.uuid) : {}),
  }
}

/** The receipt must reach the uploader only. */
export function addGuestReceipt(
  call: Pick<Call, 'headers'>,
  { receipts }: Pick<UploadsModule, 'receipts'>,
  uuid: Uuid,
): { receipt: string } {
  return setReceiptHeader(call, receipts.of(uuid))
}

export function setReceiptHeader({ headers }: Pick<Call, 'headers'>, receipt: Receipt): { receipt: string } {
  headers.set('Holdfast-Receipt', receipt)
  return { receipt }
}

export function toContributionResult(
  call: Pick<Call, 'headers'>,
  { receipts }: Pick<UploadsModule, 'receipts'>,
  { uuid, size, sha256 }: StoredFile,
): ContributionResult {
  const receipt = setReceiptHeader(call, receipts.ofContribution(uuid))
  return { success: true, message: 'File received', size, sha256, ...receipt }
}

export function toStoredUpload(site: Site, file: StoredFile): UploadResult {
  return {
    success: true,
    message: 'File uploaded',
    slug: file.slug,
    url: fileUrl(site, file.slug),
    file_id: file.id,
    thumbnail_url: thumbnailPath(file.uuid),
    uuid: file.uuid,
    size: file.size,
    sha256: file.sha256,
  }
}

export function toUnfinishedUpload(
  site: Site,
  { resumable }: Pick<UploadsModule, 'resumable'>,
  upload: ResumableUpload,
): UnfinishedUpload {
  return {
    status: reportedState(upload),
    name: upload.name,
    received: upload.received,
    size: upload.size,
    ...(upload.link_id === null ? publicNames(site, upload) : {}),
    last_modified: lastModified(upload),
    created_at: timestamp(upload.created_at),
    expires_at: timestamp(resumable.expiresAt(upload)),
  }
}

/** An upload with all bytes counts as processing, even before its parts are being joined. */
export function reportedState({
  state,
  received,
  size,
}: Pick<ResumableUpload, 'state' | 'received' | 'size'>): ResumableUpload['state'] {
  return state === 'uploading' && received === size ? 'processing' : state
}

/** Never sent to a contributor. */
export function publicNames(
  site: Site,
  { slug, kind }: Pick<ResumableUpload, 'slug' | 'kind'>,
): { slug: string; url?: string } {
  return { slug, ...(kind === 'partial' ? {} : { url: fileUrl(site, slug) }) }
}

function lastModified({ metadata }: ResumableUpload): number | null {
  return wholeNumber(parseMetadata(metadata).get('lastModified'))
}
