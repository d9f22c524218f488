import * as z from 'zod'
import type { BlobProgress } from '../domain/ids.ts'
import type { StoredPart } from './s3-uploads.ts'

/** Of constant size: the store lists the parts. */
export interface S3Progress {
  readonly upload: string | null
  readonly parts: number
  readonly tail: string | null
  /** Obsolete once this state is recorded. */
  readonly tailBefore: string | null
  /** Detects changed parts or tail. */
  readonly print: string
}

const shape = z.strictObject({
  upload: z.string().nullable(),
  parts: z.int().nonnegative(),
  tail: z.string().nullable(),
  tailBefore: z.string().nullable(),
  print: z.string(),
})

export function progressText(progress: S3Progress): BlobProgress {
  return JSON.stringify(progress) as BlobProgress
}

/** Throws Error for any other text. */
export function parseProgress(text: BlobProgress): S3Progress {
  return shape.parse(JSON.parse(text))
}

export function printOf(parts: readonly StoredPart[], tail: Buffer | null): string {
  const hash = new Bun.CryptoHasher('sha256')
  // Some stores send an ETag with quotation marks in one answer and without them in another.
  for (const { etag } of parts) hash.update(`${etag.replaceAll('"', '').toLowerCase()}\n`)
  return hash.update(tail ?? '').digest('hex')
}
