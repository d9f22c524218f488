import { MINUTE, SECOND } from '../domain/clock.ts'
import type { Log } from '../log.ts'
import { createImages, type Images, machineMemory, memoryFor } from './images.ts'
import { inMemory, type Source, type ThumbnailMaker, type ThumbnailResult } from './maker.ts'
import { makePoster } from './poster.ts'
import type { Limits } from './process-guard.ts'
import { createSpawner, type Spawner } from './spawning.ts'

const LIMITS: Limits = { memory: memoryFor(machineMemory()), work: 10 * SECOND, step: MINUTE }

interface Tools {
  readonly spawner: Spawner
  /** Null where posters cannot be made safely. */
  readonly ffmpeg: string | null
}

/** Makes thumbnails in child processes on this machine. `limits`: tests set lower ones. */
export function createLocalMaker(log: Log, limits: Limits = LIMITS): ThumbnailMaker {
  let found: Promise<Tools> | null = null
  let images: Images | null = null

  function tools(): Promise<Tools> {
    found ??= findTools(log).catch((error: unknown) => {
      found = null
      throw error
    })
    return found
  }

  async function makeImage(source: Source, signal: AbortSignal): Promise<ThumbnailResult> {
    images ??= createImages((await tools()).spawner, limits)
    return images.make(source, signal)
  }

  return {
    async make(kind, source, signal) {
      if (kind === 'image') return makeImage(source, signal)
      const { ffmpeg, spawner } = await tools()
      if (ffmpeg === null) return { kind: 'unsupported' }
      const poster = await makePoster(kind, source, { ffmpeg, spawner, limits, signal })
      return poster === null
        ? { kind: 'none', reason: 'ffmpeg finds no picture in it' }
        : makeImage(inMemory(poster), signal)
    },

    canMakePosters: async () => (await tools()).ffmpeg !== null,

    close() {
      images?.close()
    },
  }
}

/** The process starts with the first request. */
export function createLocalImages(limits: Limits = LIMITS): Images {
  let images: Images | null = null
  const present = () => {
    images ??= createImages(createSpawner(), limits)
    return images
  }
  return {
    make: (source, signal) => present().make(source, signal),
    compose: (kind, pictures) => present().compose(kind, pictures),
    close: () => images?.close(),
  }
}

async function findTools(log: Log): Promise<Tools> {
  const spawner = createSpawner()
  const ffmpeg = Bun.which('ffmpeg')
  if (ffmpeg === null) {
    log.info({}, 'ffmpeg is not installed: videos get no poster')
  } else if (!spawner.isOffline) {
    log.warn({}, 'videos get no poster: this system cannot run ffmpeg without network access')
  }
  return { spawner, ffmpeg: spawner.isOffline ? ffmpeg : null }
}
