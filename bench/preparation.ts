/** Prepares data on a Holdfast before the measurements. */
import { runClient } from './client-job.ts'
import { content, sha256 } from './content.ts'
import { measuredContentAddress } from './downloads.ts'
import type { MeasuredEndpoint, MeasuredHoldfast } from './servers.ts'
import { uploadTo } from './uploads.ts'

/** Uploads the content with number 0, downloads and compares it; returns its slug. */
export async function uploadSource(holdfast: MeasuredEndpoint, key: string, size: number): Promise<string> {
  const to = uploadTo(holdfast, key)
  // Two uploads, so that the server is warmed up for the first measured one.
  const job = { kind: 'upload', to, size, count: 2, connections: 1, firstNumber: 0 } as const
  const { slugs } = await runClient(job)
  const slug = slugs[0]
  if (slug === undefined) throw new Error('the upload has no slug')
  const url = await measuredContentAddress(holdfast, slug)
  const back = await runClient({ kind: 'download', url, ranges: null, hash: true })
  if (back.sha256 !== sha256(content(size, 0))) throw new Error('the download is not what was uploaded')
  return slug
}

/** An account whose files are listed. */
export interface Listed {
  readonly key: string
  /** Slug of the file in the middle. */
  readonly slug: string
}

/** Creates an account with that many small files. */
export async function uploadListed(holdfast: MeasuredHoldfast, files: number): Promise<Listed> {
  const key = await holdfast.addAccount('bench-list')
  console.error(`uploading ${files} small files to list`)
  const { slugs } = await runClient({
    kind: 'upload',
    to: uploadTo(holdfast, key),
    size: 64,
    count: files,
    connections: 16,
    firstNumber: 1_000_000_000,
  })
  const slug = slugs[Math.floor(files / 2)]
  if (slug === undefined) throw new Error('the upload has no slug')
  return { key, slug }
}
