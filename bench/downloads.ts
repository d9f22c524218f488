import { type DownloadJob, runClient } from './client-job.ts'
import { type Contender, GIB, MIB, OURS, type Sample, type Scenario, withUsage } from './measure.ts'
import type { Holdfast, Nginx, Server } from './servers.ts'

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

/** The signed address of the bytes; it holds for half an hour, so it is asked for anew each time. */
export async function contentAddress(holdfast: Holdfast, slug: string): Promise<string> {
  const answer = await fetch(`${holdfast.url}/v2/api/public/download`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ file_slug: slug }),
  })
  if (!answer.ok) throw new Error(`no content address: ${answer.status} ${await answer.text()}`)
  const { server, file, token }: { server: string; file: string; token: string } = JSON.parse(
    await answer.text(),
  )
  return `${server}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
}

function fixed(address: string): () => Promise<string> {
  return () => Promise.resolve(address)
}

function downloader(
  name: string,
  server: Server,
  address: () => Promise<string>,
  ranges: DownloadJob['ranges'],
): Contender {
  return {
    name,
    async run(): Promise<Sample> {
      const url = await address()
      // Once unmeasured, so that the bytes are in memory for every contender alike.
      if (ranges === null) await runClient({ kind: 'download', url, ranges: null, hash: false })
      const { result, cpuSeconds, peakBytes } = await withUsage(server.pid, () =>
        runClient({ kind: 'download', url, ranges, hash: false }),
      )
      const amount = ranges === null ? result.bytes / MIB : ranges.count
      return { rate: amount / result.seconds, cpu: cpuSeconds / (result.bytes / GIB), peakBytes }
    },
  }
}
