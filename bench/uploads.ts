import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type MeasuredUploadJob, runClient } from './client-job.ts'
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

export const BIG_UPLOAD = 'Upload of one big file'

export const BARE_BYTES = 'bare Bun server'

/** Bytes of a small file. */
export const SMALL_FILE = 100 * 1024

/** Contenders and their files; a peer that is not installed is null. */
export interface MeasuredUploadParts {
  readonly holdfast: MeasuredHoldfast
  readonly key: string
  readonly nginx: Nginx | null
  readonly bare: MeasuredBytes
  /** A file of `bigSize` bytes, for dd. */
  readonly source: string
  /** Folder that dd writes to. */
  readonly scratch: string
  readonly bigSize: number
  readonly smallCount: number
}

export function uploadScenarios(parts: MeasuredUploadParts): Scenario[] {
  const { bigSize, smallCount, nginx, bare } = parts
  const contenders = (size: number, count: number, connections: number, unit: number): Contender[] => {
    const peer = (name: string, server: MeasuredBytes, location = 'put') =>
      uploader(name, server, theirs(server, location), size, count, connections, unit)
    return [
      uploader(OURS, parts.holdfast, ours(parts), size, count, connections, unit),
      ...(nginx === null ? [] : [peer('nginx PUT + sync', nginx)]),
      ...(nginx === null || count > 1 ? [] : [peer('nginx PUT + sync, 1 MiB buffer', nginx, 'put-1m')]),
      peer(BARE_BYTES, bare),
    ]
  }
  const small = (connections: number) => contenders(SMALL_FILE, smallCount, connections, SMALL_FILE)
  const big = [...contenders(bigSize, 1, 1, MIB), copier(parts)]
  return [
    { title: BIG_UPLOAD, unit: 'MiB/s', per: 'GiB', writes: bigSize, contenders: big },
    {
      title: `${smallCount} × 100 KiB, one after another`,
      unit: 'files/s',
      per: 'GiB',
      fileSize: SMALL_FILE,
      writes: smallCount * SMALL_FILE,
      contenders: small(1),
    },
    {
      title: `${smallCount} × 100 KiB, 16 at once`,
      unit: 'files/s',
      per: 'GiB',
      fileSize: SMALL_FILE,
      writes: smallCount * SMALL_FILE,
      contenders: small(16),
    },
  ]
}

function ours(parts: MeasuredUploadParts): MeasuredUploadJob['to'] {
  return uploadTo(parts.holdfast, parts.key)
}

/** Target for uploads to Holdfast. */
export function uploadTo({ url }: MeasuredEndpoint, key: string): MeasuredUploadJob['to'] {
  return { how: 'multipart', url: `${url}/api/v1/upload`, key }
}

function theirs({ url, folder }: MeasuredBytes, location: string): MeasuredUploadJob['to'] {
  return { how: 'put', url: `${url}/${location}/`, folder }
}

/** Number of the next content; unique within a run. */
let nextNumber = 1

/** `unit`: bytes per unit of the scenario's rate. */
export function uploader(
  name: string,
  server: Processes,
  to: MeasuredUploadJob['to'],
  size: number,
  count: number,
  connections: number,
  unit: number,
): Contender {
  return {
    name,
    async run(): Promise<Measurement> {
      const job: MeasuredUploadJob = { kind: 'upload', to, size, count, connections, firstNumber: nextNumber }
      nextNumber += count
      const { result, ...used } = await withUsage(server, () => runClient(job))
      if (to.how === 'put') {
        for (let at = 0; at < count; at++) rmSync(join(to.folder, `bench-${job.firstNumber + at}.bin`))
      }
      return sampleOf(result.bytes / unit / result.seconds, used, result.bytes / GIB)
    },
  }
}

/** Speed of the disk itself: dd copies the same bytes and syncs, without a network. */
function copier(parts: MeasuredUploadParts): Contender {
  const target = join(parts.scratch, 'dd.bin')
  return {
    name: 'dd conv=fsync',
    async run(): Promise<Measurement> {
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
