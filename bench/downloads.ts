import { type DownloadJob, runClient } from './client-job.ts'
import {
  type Contender,
  GIB,
  type Measurement,
  MIB,
  OURS,
  type Processes,
  type Scenario,
  sampleOf,
  withUsage,
} from './measure.ts'
import type { MeasuredBytes, MeasuredEndpoint, MeasuredHoldfast, Nginx } from './servers.ts'
import { BARE_BYTES } from './uploads.ts'

export const BIG_DOWNLOAD = 'Download of one big file'

export interface MeasuredDownloadParts {
  readonly holdfast: MeasuredHoldfast
  /** Slug of the file on Holdfast. */
  readonly slug: string
  /** Another Holdfast, with HOLDFAST_VERIFY_READS, and its file of the same size. */
  readonly verifying: { readonly holdfast: MeasuredHoldfast; readonly slug: string }
  readonly nginx: Nginx | null
  readonly bare: MeasuredBytes
  /** Name of a file of the same size in the folders of both. */
  readonly name: string
  readonly size: number
  readonly rangeCount: number
}

export function downloadScenarios(parts: MeasuredDownloadParts): Scenario[] {
  const { size, verifying } = parts
  const ranges = { count: parts.rangeCount, length: MIB, size }
  const peer = (name: string, { url, ...server }: MeasuredBytes, wanted: DownloadJob['ranges']) =>
    downloader(name, server, () => Promise.resolve(`${url}/files/${parts.name}`), wanted)
  const contenders = (wanted: DownloadJob['ranges']): Contender[] => [
    downloader(OURS, parts.holdfast, () => measuredContentAddress(parts.holdfast, parts.slug), wanted),
    ...(parts.nginx === null ? [] : [peer('nginx GET', parts.nginx, wanted)]),
    peer(BARE_BYTES, parts.bare, wanted),
  ]
  const verifyingAddress = () => measuredContentAddress(verifying.holdfast, verifying.slug)
  const verified = downloader(`${OURS}, verifying`, verifying.holdfast, verifyingAddress, null)
  return [
    { title: BIG_DOWNLOAD, unit: 'MiB/s', per: 'GiB', contenders: [...contenders(null), verified] },
    {
      title: `${parts.rangeCount} random ranges of 1 MiB, one after another`,
      unit: 'ranges/s',
      per: 'GiB',
      contenders: contenders(ranges),
    },
  ]
}

/**
 * Signed address of the bytes, on the given server regardless of the public address. Valid for half an hour,
 * so it is requested for each run. `key`: whose rights are signed; nobody's unless told.
 */
export async function measuredContentAddress(
  { url }: MeasuredEndpoint,
  slug: string,
  key?: string,
): Promise<string> {
  const headers = new Headers({ 'Content-Type': 'application/json' })
  if (key !== undefined) headers.set('Authorization', `Bearer ${key}`)
  const answer = await fetch(`${url}/v2/api/public/download`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ file_slug: slug }),
  })
  if (!answer.ok) throw new Error(`no content address: ${answer.status} ${await answer.text()}`)
  const { file, token }: { file: string; token: string } = JSON.parse(await answer.text())
  return `${url}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
}

export function downloader(
  name: string,
  server: Processes,
  address: () => Promise<string>,
  ranges: DownloadJob['ranges'],
): Contender {
  return {
    name,
    async run(): Promise<Measurement> {
      const url = await address()
      // One unmeasured run, so that every contender serves from memory.
      if (ranges === null) await runClient({ kind: 'download', url, ranges: null, hash: false })
      const { result, ...used } = await withUsage(server, () =>
        runClient({ kind: 'download', url, ranges, hash: false }),
      )
      const amount = ranges === null ? result.bytes / MIB : ranges.count
      return sampleOf(amount / result.seconds, used, result.bytes / GIB)
    },
  }
}
