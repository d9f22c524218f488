import type { BlobKey } from '../../domain/ids.ts'
import { tailOf } from '../s3-tails.ts'

/**
 * Object with a copy of a part, which can be read while the upload is unfinished. It is removed as tails are. The ETag tells
 * it from what a dead session may have sent as the same part.
 */
export function partCopyOf(key: BlobKey, number: number, etag: string): string {
  return tailOf(key, `part-${number}-${etag.toLowerCase().replaceAll(/[^0-9a-z-]/g, '')}`)
}
