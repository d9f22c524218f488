import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type MeasuredUploadJob, runClient } from './client-job.ts'
import { type Contender, GIB, MIB, OURS, type Scenario, sampleOf, withUsage } from './measure.ts'
import type { MeasuredHoldfast, MeasuredServer, TusPeer } from './servers.ts'

export const ONE_PATCH = 'Resumable upload of one big file, in one PATCH'
export const MANY_PATCHES = 'Resumable upload of one big file, 16 MiB at a time'

/** Names of the peers in the table. */
export const TUS_SERVER = '@tus/server + sync'
export const TUS_ON_BUN = '@tus/server on Bun + sync'
export const MULTIPART = 'Holdfast, plain upload'

const CHUNK = 16 * MIB

export interface ResumableParts {
  readonly holdfast: MeasuredHoldfast
  readonly key: string
  /** By their names in the table. */
  readonly peers: ReadonlyMap<string, TusPeer>
  readonly bigSize: number
}

export function resumableScenarios({ holdfast, key, peers, bigSize }: ResumableParts): Scenario[] {
  const scenario = (title: string, chunk: number): Scenario => ({
    title,
    unit: 'MiB/s',
    per: 'GiB',
    writes: bigSize,
    contenders: [
      uploader(OURS, holdfast, { how: 'tus', url: `${holdfast.url}/api/v1/uploads`, key, chunk }, bigSize),
      ...Array.from(peers, ([name, peer]) => {
        const to = { how: 'tus-synced', url: `${peer.url}/files`, folder: peer.folder, chunk } as const
        return uploader(name, peer, to, bigSize)
      }),
      uploader(MULTIPART, holdfast, { how: 'multipart', url: `${holdfast.url}/api/v1/upload`, key }, bigSize),
    ],
  })
  return [scenario(ONE_PATCH, bigSize), scenario(MANY_PATCHES, CHUNK)]
}

/** Number of the next content; unique within a run. */
let nextNumber = 4_000_000_000

function uploader(
  name: string,
  server: MeasuredServer,
  to: MeasuredUploadJob['to'],
  size: number,
): Contender {
  return {
    name,
    async run() {
      const job: MeasuredUploadJob = {
        kind: 'upload',
        to,
        size,
        count: 1,
        connections: 1,
        firstNumber: nextNumber++,
      }
      const { result, ...used } = await withUsage(server, () => runClient(job))
      if (to.how === 'tus-synced') {
        for (const file of result.slugs) {
          rmSync(join(to.folder, file))
          rmSync(join(to.folder, `${file}.json`))
        }
      }
      return sampleOf(result.bytes / MIB / result.seconds, used, result.bytes / GIB)
    },
  }
}
