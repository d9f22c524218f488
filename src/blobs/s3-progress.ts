import * as z from 'zod'
import type { BlobProgress } from '../domain/ids.ts'
import type { StoredPart } from './s3-uploads.ts'

/** How far a blob has come in the bucket. It does not grow with the blob: the parts are the store's to list. */
export interface S3Progress {
  /** Id of the multipart upload, null as long as there is no part. */
  readonly upload: string | null
  /** How many parts belong to it, from the first on. */
  readonly parts: number
  /** The tail's name, null when there is none. */
  readonly tail: string | null
  /** The tail of what was kept before this; nobody needs it once this is recorded. */
  readonly tailBefore: string | null
  /** Tells whether parts and tail are still what they were. */
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

/** Throws Error for what is none of ours. */
export function parseProgress(text: BlobProgress): S3Progress {
  return shape.parse(JSON.parse(text))
}

export function printOf(parts: readonly StoredPart[], tail: Buffer | null): string {
  const hash = new Bun.CryptoHasher('sha256')
  // Some stores give an ETag with its quotation marks in one answer and without in another.
  for (const { etag } of parts) hash.update(`${etag.replaceAll('"', '').toLowerCase()}\n`)
  return hash.update(tail ?? '').digest('hex')
}
