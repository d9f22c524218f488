import type { Receipted, ReceiptUpload } from '../../contract/receipts.ts'
import { optionalTime, timestamp } from '../../domain/clock.ts'
import { fileUrl } from '../../files/file-answers.ts'
import type { FilesPart } from '../../files/files.part.ts'
import type { Call } from '../../server/call.ts'
import type { GivenReceipt, ReceivedUpload } from '../../uploads/receipts/receipts.ts'
import { toUnfinishedUpload } from '../../uploads/upload-answers.ts'
import type { UploadsPart } from '../../uploads/uploads.part.ts'
import { linkUrl, toLinkDetail } from '../links/links.routes.ts'
import type { SharingPart } from '../sharing.part.ts'

export interface ReceiptNeeds {
  readonly files: Pick<FilesPart, 'inactivity'>
  readonly sharing: Pick<SharingPart, 'guestLinks'>
  readonly uploads: UploadsPart
}

export function receiptOf({ params, bucket }: Pick<Call, 'params' | 'bucket'>): GivenReceipt {
  return { text: params.receipt ?? '', bucket }
}

export async function receipted(call: Call, parts: ReceiptNeeds): Promise<Receipted> {
  const found = await parts.uploads.receipts.look(receiptOf(call))
  switch (found.kind) {
    case 'link':
      return { kind: 'link', ...toLinkDetail(call.site, await parts.sharing.guestLinks.get(found.link)) }
    case 'contribution': {
      const { canWithdraw, created_at, link, ...sent } = found.contribution
      return {
        kind: 'contribution',
        ...sent,
        link: link === null ? null : { url: linkUrl(call.site, link.slug), name: link.name },
        can_withdraw: canWithdraw,
        created_at: timestamp(created_at),
      }
    }
    case 'file':
    case 'arriving':
      return toReceiptUpload(call, parts, found)
  }
}

function toReceiptUpload(
  { site }: Pick<Call, 'site'>,
  { files, uploads }: ReceiptNeeds,
  received: ReceivedUpload,
): ReceiptUpload {
  if (received.kind === 'arriving') {
    const {
      status,
      name,
      received: bytes,
      size,
      created_at,
      expires_at,
    } = toUnfinishedUpload(site, uploads, received.upload)
    const { slug } = received.upload
    const url = fileUrl(site, slug)
    const counts = { views: 0, downloads: 0, sha256: null }
    return {
      kind: 'upload',
      status,
      name,
      received: bytes,
      size,
      slug,
      url,
      created_at,
      expires_at,
      ...counts,
    }
  }
  const { name, size, slug, created_at, views, downloads, sha256 } = received.file
  return {
    kind: 'upload',
    status: 'completed',
    name,
    received: size,
    size,
    slug,
    url: fileUrl(site, slug),
    created_at: timestamp(created_at),
    expires_at: optionalTime(files.inactivity.endOf(received.file)),
    views,
    downloads,
    sha256,
  }
}
