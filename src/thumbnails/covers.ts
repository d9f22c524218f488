import { Refusal } from '../domain/errors.ts'
import { thumbnailKind } from '../domain/media-type.ts'
import { inMemory } from './local-maker.ts'
import {
  ThumbnailFailed,
  type ThumbnailMaker,
  ThumbnailMakerUnavailable,
  type ThumbnailResult,
} from './maker.ts'

/** Bytes of a cover, which is kept in a row; WebP of this size normally needs far less. */
const MOST_BYTES = 256 * 1024
/** Each in memory. */
const MOST_WAITING = 8
/** Seconds suggested for a retry. */
const RETRY = 5

export interface Covers {
  /**
   * WebP, 960 pixels at most on its longer side, fewer to stay within `MOST_BYTES`. Throws Refusal INVALID_REQUEST for
   * a file that is no picture, SERVER_BUSY when too many wait or none can be made now.
   */
  make(picture: Uint8Array, signal: AbortSignal): Promise<Uint8Array>
}

/** Makes one at a time. */
export function createCovers(maker: ThumbnailMaker): Covers {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  return {
    async make(picture, signal) {
      if (thumbnailKind(picture) !== 'image') throw unreadable('it is not a picture')
      if (waiting === MOST_WAITING) throw busy()
      waiting += 1
      const making = last.then(() => maker.make('image', inMemory(picture), signal))
      last = making.catch(() => {})
      try {
        return coverOf(await making)
      } catch (error) {
        if (error instanceof ThumbnailMakerUnavailable) throw busy()
        if (error instanceof ThumbnailFailed)
          throw unreadable('it takes too much time or memory; send a smaller one')
        throw error
      } finally {
        waiting -= 1
      }
    },
  }
}

export const noCovers: Covers = {
  async make() {
    throw new Refusal('INVALID_REQUEST', 'This server makes no thumbnails')
  },
}

function coverOf(result: ThumbnailResult): Uint8Array {
  if (result.kind !== 'made')
    throw unreadable(result.kind === 'none' ? result.reason : 'it cannot be read here')
  const { small, large } = result.thumbnail
  const cover = large !== null && large.byteLength <= MOST_BYTES ? large : small
  if (cover.byteLength > MOST_BYTES) throw unreadable('it is too detailed')
  return cover
}

function unreadable(reason: string): Refusal {
  return new Refusal('INVALID_REQUEST', `"thumbnail": cannot be used: ${reason}`)
}

function busy(): Refusal {
  return new Refusal('SERVER_BUSY', 'Too many pictures are being made; try again soon', RETRY)
}
