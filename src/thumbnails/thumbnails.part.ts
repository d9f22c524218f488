import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { MINUTE } from '../domain/clock.ts'
import { createLocalMaker } from './local-maker.ts'
import { createThumbnailMaking } from './thumbnail-making.job.ts'
import { createThumbnails, noThumbnails, type Thumbnails } from './thumbnails.ts'

/** Thumbnails, made in child processes; none where they are switched off. */
export interface ThumbnailsPart extends Thumbnails {
  readonly jobs: readonly Job[]
  /** Starts no more thumbnails. */
  stop(): Promise<void>
}

export function createThumbnailsPart(core: Core): ThumbnailsPart {
  if (!core.config.thumbnails) return { ...noThumbnails, jobs: [], stop: async () => {} }
  const making = createThumbnailMaking({ ...core, maker: createLocalMaker(core.log) })
  return {
    ...createThumbnails({
      ...core,
      making,
      report: core.failed('a thumbnail could not be read or requested'),
    }),
    jobs: [
      // Picks up thumbnails left by other nodes; this node is woken for its own uploads.
      { name: 'make thumbnails', on: 'every node', every: MINUTE / 2, run: () => making.run() },
    ],
    stop: core.shutdown.add('the thumbnails', () => making.stop()),
  }
}
