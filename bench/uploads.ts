import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runClient, type UploadJob } from './client-job.ts'
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

export const BIG_UPLOAD = 'Upload of one big file'

/** Bytes of a small file. */
export const SMALL = 100 * 1024

/** What takes part, and where; a peer that is not installed is null. */
export interface UploadParts {
  readonly holdfast: Holdfast
  readonly key: string
  readonly nginx: Nginx | null
  /** A file of `bigSize` bytes, for dd. */
  readonly source: string
  /** Where dd writes. */
  readonly scratch: string
  readonly bigSize: number
  readonly smallCount: number
}

export function uploadScenarios(parts: UploadParts): Scenario[] {
  const { bigSize, smallCount } = parts
  const big: Contender[] = [
    uploader(OURS, parts.holdfast, ours(parts), bigSize, 1, 1, MIB),
    ...(parts.nginx === null
      ? []
      : [
          uploader('nginx PUT + sync', parts.nginx, theirs(parts.nginx, 'put'), bigSize, 1, 1, MIB),
          uploader(
            'nginx PUT + sync, 1 MiB buffer',
            parts.nginx,
            theirs(parts.nginx, 'put-1m'),
            bigSize,
            1,
            1,
            MIB,
          ),
        ]),
    copier(parts),
  ]
  const small = (connections: number): Contender[] => [
    uploader(OURS, parts.holdfast, ours(parts), SMALL, smallCount, connections, SMALL),
    ...(parts.nginx === null
      ? []
      : [
          uploader(
            'nginx PUT + sync',
            parts.nginx,
            theirs(parts.nginx, 'put'),
            SMALL,
            smallCount,
            connections,
            SMALL,
          ),
        ]),
  ]
  return [
    { title: BIG_UPLOAD, unit: 'MiB/s', per: 'GiB', writes: bigSize, contenders: big },
    {
      title: `${smallCount} × 100 KiB, one after another`,
      unit: 'files/s',
      per: 'GiB',
      writes: smallCount * SMALL,
      contenders: small(1),
    },
    {
      title: `${smallCount} × 100 KiB, 16 at once`,
      unit: 'files/s',
      per: 'GiB',
      writes: smallCount * SMALL,
      contenders: small(16),
    },
  ]
}

function ours(parts: UploadParts): UploadJob['to'] {
  return uploadTo(parts.holdfast, parts.key)
}

/** Uploads to Holdfast. */
export function uploadTo({ url }: Endpoint, key: string): UploadJob['to'] {
  return { how: 'multipart', url: `${url}/api/v1/upload`, key }
}

function theirs(nginx: Nginx, location: string): UploadJob['to'] {
  return { how: 'put', url: `${nginx.url}/${location}/`, folder: nginx.folder }
}

/** No two uploads of a run carry the same bytes. */
let nextNumber = 1

/** `unit` is how many bytes make one of the scenario's unit. */
export function uploader(
  name: string,
  server: Processes,
  to: UploadJob['to'],
  size: number,
  count: number,
  connections: number,
  unit: number,
): Contender {
  return {
    name,
    async run(): Promise<Sample> {
      const job: UploadJob = { kind: 'upload', to, size, count, connections, firstNumber: nextNumber }
      nextNumber += count
      const { result, ...used } = await withUsage(server, () => runClient(job))
      if (to.how === 'put') {
        for (let at = 0; at < count; at++) rmSync(join(to.folder, `bench-${job.firstNumber + at}.bin`))
      }
      return sampleOf(result.bytes / unit / result.seconds, used, result.bytes / GIB)
    },
  }
}

/** The disk's own pace: the same bytes copied and synced by dd, without a network. */
function copier(parts: UploadParts): Contender {
  const target = join(parts.scratch, 'dd.bin')
  return {
    name: 'dd conv=fsync',
    async run(): Promise<Sample> {
      const start = performance.now()
      const dd = Bun.spawn(['dd', `if=${parts.source}`, `of=${target}`, 'bs=1M', 'conv=fsync'], {
        stderr: 'ignore',
      })
      if ((await dd.exited) !== 0) throw new Error('dd failed')
      const seconds = (performance.now() - start) / 1000
      rmSync(target)
      const used = dd.resourceUsage()
      const cpuSeconds = used === undefined ? null : Number(used.cpuTime.total) / 1e6
      return {
        rate: parts.bigSize / MIB / seconds,
        cpu: cpuSeconds === null ? null : cpuSeconds / (parts.bigSize / GIB),
        peakBytes: used?.maxRSS ?? null,
      }
    },
  }
}
