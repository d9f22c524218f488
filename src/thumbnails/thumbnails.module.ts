import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { MINUTE } from '../domain/clock.ts'
import { type Cards, createCards, noCards } from './cards.ts'
import { type Covers, createCovers, noCovers } from './covers.ts'
import { createLocalImages, createLocalMaker } from './local-maker.ts'
import { createThumbnailMaking } from './thumbnail-making.job.ts'
import { createThumbnails, noThumbnails, type Thumbnails } from './thumbnails.ts'

export interface ThumbnailsModule extends Thumbnails {
  readonly cards: Cards
  readonly covers: Covers
  readonly jobs: readonly Job[]
  stop(): Promise<void>
}

export function createThumbnailsModule(core: Core): ThumbnailsModule {
  if (!core.config.thumbnails) {
    return { ...noThumbnails, cards: noCards, covers: noCovers, jobs: [], stop: async () => {} }
  }
  const cardImages = createLocalImages()
  const coverMaker = createLocalMaker(core.log)
  const making = createThumbnailMaking({ ...core, maker: createLocalMaker(core.log) })
  return {
    ...createThumbnails({
      ...core,
      making,
      report: core.failed('a thumbnail could not be read or requested'),
    }),
    cards: createCards(cardImages),
    covers: createCovers(coverMaker),
    jobs: [
      // Picks up thumbnails left by other nodes; this node is woken for its own uploads.
      { name: 'make thumbnails', on: 'every node', every: MINUTE / 2, run: () => making.run() },
    ],
    stop: core.shutdown.add('the thumbnails', async () => {
      cardImages.close()
      coverMaker.close()
      await making.stop()
    }),
  }
}
