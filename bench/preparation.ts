/** What lies on a Holdfast before anything is measured. */
import { runClient } from './client-job.ts'
import { content, sha256 } from './content.ts'
import { contentAddress } from './downloads.ts'
import type { Endpoint, Holdfast } from './servers.ts'
import { uploadTo } from './uploads.ts'

/** Uploads the content of number 0, reads it back and compares; returns its slug. */
export async function uploadSource(holdfast: Endpoint, key: string, size: number): Promise<string> {
  const to = uploadTo(holdfast, key)
  // Two, so that the first measured upload meets a server that has warmed up.
  const job = { kind: 'upload', to, size, count: 2, connections: 1, firstNumber: 0 } as const
  const { slugs } = await runClient(job)
  const slug = slugs[0]
  if (slug === undefined) throw new Error('the upload has no slug')
  const url = await contentAddress(holdfast, slug)
  const back = await runClient({ kind: 'download', url, ranges: null, hash: true })
  if (back.sha256 !== sha256(content(size, 0))) throw new Error('the download is not what was uploaded')
  return slug
}

/** An account to be listed. */
export interface Listed {
  readonly key: string
  /** The file in the middle. */
  readonly slug: string
}

/** Makes an account with so many small files. */
export async function uploadListed(holdfast: Holdfast, files: number): Promise<Listed> {
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
