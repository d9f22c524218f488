import type { BlobKey } from '../../domain/ids.ts'
import { tailOf } from '../s3-tails.ts'

/** Removed as tails are. The ETag tells the copy from one of a dead session's part. */
export function partCopyOf(key: BlobKey, number: number, etag: string): string {
  return tailOf(key, `part-${number}-${etag.toLowerCase().replaceAll(/[^0-9a-z-]/g, '')}`)
}
