import type { CardKind } from '../domain/card.ts'
import { Refusal } from '../domain/errors.ts'
import type { Images } from './images.ts'
import { CARD_PICTURES, ThumbnailFailed, ThumbnailMakerUnavailable } from './maker.ts'

/** Bytes of all cards kept in memory. */
const MOST_KEPT = 16 * 1024 * 1024
/** Each holds its thumbnails in memory. */
const MOST_WAITING = 8
/** Seconds suggested for a retry. */
const RETRY = 5

export interface CardPicture {
  /** Changes with the picture. */
  readonly key: string
  /** A thumbnail; null while it cannot be read. */
  read(): Promise<Uint8Array | null>
}

export interface Cards {
  /** How many pictures a card shows at most. */
  readonly most: number
  /**
   * JPEG of `CARD_WIDTH` and `CARD_HEIGHT` pixels for previews in chats. Null where none can be made of these pictures.
   * Throws Refusal SERVER_BUSY when too many others wait.
   */
  make(kind: CardKind, pictures: readonly CardPicture[]): Promise<Uint8Array | null>
}

/** Makes one at a time, once for all who ask for it; the latest ones are kept. */
export function createCards(images: Pick<Images, 'compose'>): Cards {
  const kept = new Map<string, Uint8Array>()
  let size = 0
  let last: Promise<unknown> = Promise.resolve()
  const waiting = new Map<string, Promise<Uint8Array | null>>()

  function keep(key: string, card: Uint8Array): void {
    kept.set(key, card)
    size += card.byteLength
    for (const [oldest, { byteLength }] of kept) {
      if (size <= MOST_KEPT) break
      kept.delete(oldest)
      size -= byteLength
    }
  }

  async function compose(kind: CardKind, pictures: readonly CardPicture[]): Promise<Uint8Array | null> {
    const read = await Promise.all(pictures.map((picture) => picture.read()))
    const readable = read.filter((bytes) => bytes !== null)
    return readable.length === 0 ? null : images.compose(kind, readable)
  }

  return {
    most: CARD_PICTURES,

    async make(kind, pictures) {
      const shown = pictures.slice(0, CARD_PICTURES)
      if (shown.length === 0) return null
      const key = [kind, ...shown.map((picture) => picture.key)].join('\n')
      const known = kept.get(key)
      if (known !== undefined) return known
      const present = waiting.get(key)
      if (present !== undefined) return present
      if (waiting.size === MOST_WAITING) throw busy()
      const making = last.then(() => made(key, kind, shown)).finally(() => waiting.delete(key))
      waiting.set(key, making)
      last = making.catch(() => {})
      return making
    },
  }

  async function made(
    key: string,
    kind: CardKind,
    pictures: readonly CardPicture[],
  ): Promise<Uint8Array | null> {
    try {
      const card = await compose(kind, pictures)
      if (card !== null) keep(key, card)
      return card
    } catch (error) {
      if (error instanceof ThumbnailMakerUnavailable) throw busy()
      if (error instanceof ThumbnailFailed) return null
      throw error
    }
  }
}

export const noCards: Cards = { most: 0, make: async () => null }

function busy(): Refusal {
  return new Refusal('SERVER_BUSY', 'Too many pictures are being made; try again soon', RETRY)
}
