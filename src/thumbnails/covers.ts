import { Refusal } from '../domain/errors.ts'
import { thumbnailKind } from '../domain/media-type.ts'
import {
  inMemory,
  type Thumbnail,
  ThumbnailFailed,
  type ThumbnailMaker,
  ThumbnailMakerUnavailable,
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
  /** The same of 320 pixels. */
  makeLogo(picture: Uint8Array, signal: AbortSignal): Promise<Uint8Array>
}

/** Makes one at a time. */
export function createCovers(maker: ThumbnailMaker): Covers {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  async function made(
    field: string,
    picture: Uint8Array,
    signal: AbortSignal,
    choose: (thumbnail: Thumbnail) => Uint8Array,
  ): Promise<Uint8Array> {
    const unreadable = (reason: string) =>
      new Refusal('INVALID_REQUEST', `"${field}": cannot be used: ${reason}`)
    if (thumbnailKind(picture) !== 'image') throw unreadable('it is not a picture')
    if (waiting === MOST_WAITING) throw busy()
    waiting += 1
    const making = last.then(() => maker.make('image', inMemory(picture), signal))
    last = making.catch(() => {})
    try {
      const result = await making
      if (result.kind !== 'made') {
        throw unreadable(result.kind === 'none' ? result.reason : 'it cannot be read here')
      }
      const chosen = choose(result.thumbnail)
      if (chosen.byteLength > MOST_BYTES) throw unreadable('it is too detailed')
      return chosen
    } catch (error) {
      if (error instanceof ThumbnailMakerUnavailable) throw busy()
      if (error instanceof ThumbnailFailed) {
        throw unreadable('it takes too much time or memory; send a smaller one')
      }
      throw error
    } finally {
      waiting -= 1
    }
  }

  return {
    make: (picture, signal) =>
      made('thumbnail', picture, signal, ({ small, large }) =>
        large !== null && large.byteLength <= MOST_BYTES ? large : small,
      ),
    makeLogo: (picture, signal) => made('logo', picture, signal, ({ small }) => small),
  }
}

export const noCovers: Covers = { make: refuse, makeLogo: refuse }

async function refuse(): Promise<never> {
  throw new Refusal('INVALID_REQUEST', 'This server makes no thumbnails')
}

function busy(): Refusal {
  return new Refusal('SERVER_BUSY', 'Too many pictures are being made; try again soon', RETRY)
}
