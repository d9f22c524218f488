import { Refusal } from '../../domain/errors.ts'
import { assertFileSize } from '../size-limit.ts'
import type { UploadRow } from '../uploads.rows.ts'
import type { ByteSource } from './append-request.ts'
import type { ExpectedChecksum } from './chunk-checksum.ts'

export interface NextBytes {
  readonly offset: number
  /** Set when this request declares the upload's size. */
  readonly size: number | null
  readonly length: number | null
  readonly checksum: ExpectedChecksum | null
  readonly source: ByteSource
}

/** Throws Refusal unless the bytes follow the upload's offset and fit. */
export function assertFollows(upload: UploadRow, bytes: NextBytes, maxFileSize: number): void {
  if (bytes.offset !== upload.received) throw conflict(upload)
  if (bytes.size !== null && upload.size !== null && bytes.size !== upload.size) {
    throw new Refusal(
      'INVALID_REQUEST',
      `The size of this upload is ${upload.size} bytes and cannot be changed`,
    )
  }
  assertFileSize(bytes.size ?? 0, maxFileSize)
  const size = upload.size ?? bytes.size
  if (size !== null && bytes.offset + (bytes.length ?? 0) > size) throw tooLong({ size })
}

export function conflict(upload: UploadRow): Refusal {
  const message = `The upload is at offset ${upload.received}; ask for its offset and go on from there`
  return new Refusal('OFFSET_CONFLICT', message)
}

export function tooLong({ size }: Pick<UploadRow, 'size'>): Refusal {
  return new Refusal(
    'PAYLOAD_TOO_LARGE',
    `The upload was announced with ${size} bytes, and this would be more`,
  )
}
