import { Refusal } from '../../domain/errors.ts'
import { assertFileSize } from '../size-limit.ts'
import type { UploadRow } from '../uploads.rows.ts'
import type { ByteSource } from './append-request.ts'
import type { ExpectedChecksum } from './chunk-checksum.ts'

/** What a request is to add to an upload. */
export interface NextBytes {
  readonly offset: number
  /** The size, when this request is the one to declare it. */
  readonly size: number | null
  /** Bytes that the request says it brings. */
  readonly length: number | null
  readonly checksum: ExpectedChecksum | null
  readonly source: ByteSource
}

/** Throws Refusal unless the bytes go on where the upload is, and fit into it. */
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
