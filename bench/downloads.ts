import { type DownloadJob, runClient } from './client-job.ts'
import {
  type Contender,
  GIB,
  MIB,
  OURS,
  type Processes,
  type Sample,
  type Scenario,
  sampleOf,
  withUsage,
} from './measure.ts'
import type { Endpoint, Holdfast, Nginx } from './servers.ts'

export const BIG_DOWNLOAD = 'Download of one big file'

export interface DownloadParts {
  readonly holdfast: Holdfast
  /** The file to fetch from us. */
  readonly slug: string
  readonly nginx: Nginx | null
  /** The name of a file of the same size in nginx's folder. */
  readonly name: string
  readonly size: number
  readonly rangeCount: number
}

export function downloadScenarios(parts: DownloadParts): Scenario[] {
  const { size } = parts
  const ranges = { count: parts.rangeCount, length: MIB, size }
  const contenders = (wanted: DownloadJob['ranges']): Contender[] => [
    downloader(OURS, parts.holdfast, () => contentAddress(parts.holdfast, parts.slug), wanted),
    ...(parts.nginx === null
      ? []
      : [downloader('nginx GET', parts.nginx, fixed(`${parts.nginx.url}/files/${parts.name}`), wanted)]),
  ]
  return [
    { title: BIG_DOWNLOAD, unit: 'MiB/s', per: 'GiB', contenders: contenders(null) },
    {
      title: `${parts.rangeCount} random ranges of 1 MiB, one after another`,
      unit: 'ranges/s',
      per: 'GiB',
      contenders: contenders(ranges),
    },
  ]
}

/**
 * The signed address of the bytes, on the server that is asked, whatever the installation's public address is. It
 * holds for half an hour, so it is asked for anew each time.
 */
export async function contentAddress({ url }: Endpoint, slug: string): Promise<string> {
  const answer = await fetch(`${url}/v2/api/public/download`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ file_slug: slug }),
  })
  if (!answer.ok) throw new Error(`no content address: ${answer.status} ${await answer.text()}`)
  const { file, token }: { file: string; token: string } = JSON.parse(await answer.text())
  return `${url}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
}

function fixed(address: string): () => Promise<string> {
  return () => Promise.resolve(address)
}

export function downloader(
  name: string,
  server: Processes,
  address: () => Promise<string>,
  ranges: DownloadJob['ranges'],
): Contender {
  return {
    name,
    async run(): Promise<Sample> {
      const url = await address()
      // Once unmeasured, so that the bytes are in memory for every contender alike.
      if (ranges === null) await runClient({ kind: 'download', url, ranges: null, hash: false })
      const { result, ...used } = await withUsage(server, () =>
        runClient({ kind: 'download', url, ranges, hash: false }),
      )
      const amount = ranges === null ? result.bytes / MIB : ranges.count
      return sampleOf(amount / result.seconds, used, result.bytes / GIB)
    },
  }
}
