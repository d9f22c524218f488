import { type BlobStore, isLost, readInto, StoreFailure } from '../blobs/blob-store.ts'
import {
  findThumbnail,
  type MadeThumbnail,
  type Pixels,
  remakeThumbnail,
  thumbnailPixels,
  thumbnailStates,
  wantThumbnail,
} from '../core/thumbnails.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { isDatabaseFailure } from '../database/differences.ts'
import type { ThumbnailState } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import type { BlobId, BlobKey, FileId, Uuid } from '../domain/ids.ts'
import { thumbnailKind } from '../domain/media-type.ts'
import { iconAddress } from './icons.ts'
import { LARGE, SCREEN, SMALL } from './maker.ts'
import type { ThumbnailMaking } from './thumbnail-making.job.ts'

export type ThumbnailSize = 'small' | 'large' | 'screen'

export interface ThumbnailPicture {
  readonly blob: BlobId
  readonly key: BlobKey
  readonly start: number
  readonly size: number
  readonly whole: number
}

export type ThumbnailAvailability =
  | { readonly kind: 'picture'; readonly picture: ThumbnailPicture }
  | { readonly kind: 'later' }
  | { readonly kind: 'never' }

/** `none` until somebody requests the thumbnail of a file that came while none were made. */
export type ThumbnailProgress = 'pending' | 'ready' | 'none'

export type Shownable = { readonly id: FileId; readonly type: string }

interface FileShown {
  readonly blob_id: BlobId
  readonly type: string
  readonly thumbnail: ThumbnailState | null
}

export interface Rendition {
  readonly isSmaller: boolean
  /** Upright where browsers show the content itself on its side or mirrored. */
  readonly isTurned: boolean
}

export interface ThumbnailQueue {
  /** By the content's first bytes; null where thumbnails are off. */
  mayHaveOne(head: Uint8Array): boolean | null
  /** Must be called after the commit of the contents. */
  wake(): void
}

export interface Thumbnails extends ThumbnailQueue {
  progress(file: Pick<FileShown, 'thumbnail'>): ThumbnailProgress
  /** Requests a missing picture. A failure of that request is reported, never thrown. */
  show(file: Pick<FileShown, 'blob_id' | 'thumbnail'>, size: ThumbnailSize): Promise<ThumbnailAvailability>
  /** Of the screen-sized picture; null without one, or before it is made. */
  rendition(file: Pick<FileShown, 'blob_id' | 'thumbnail'>): Promise<Rendition | null>
  /** Whether `show` has a picture of the file, now or soon. */
  shows(file: Pick<FileShown, 'type' | 'thumbnail'>): boolean
  /** Without those of which nothing is known. `files`: of one page. */
  pixels(files: readonly { readonly id: FileId }[]): Promise<ReadonlyMap<FileId, Pixels>>
  /** Files for which `show` has no picture, now or soon. */
  without<T extends Shownable>(files: readonly T[]): Promise<ReadonlySet<T>>
  /** Null when the bytes are unavailable; lost ones are requested again. */
  read(picture: ThumbnailPicture): Promise<Uint8Array<ArrayBuffer> | null>
}

export function createThumbnails(parts: {
  db: Database
  blobs: BlobStore
  making: ThumbnailMaking
  clock: Clock
  report: (error: unknown) => void
}): Thumbnails {
  const { db, blobs, making, clock, report } = parts

  /** Database failures are only reported, because the caller merely reads. */
  async function changed(change: (trx: Trx) => Promise<void>): Promise<void> {
    try {
      await inTransaction(db, change)
      making.wake()
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error
      report(error)
    }
  }

  async function ask(blob: BlobId): Promise<ThumbnailAvailability> {
    await changed((trx) => wantThumbnail(trx, blob, clock.now()))
    return { kind: 'later' }
  }

  return {
    mayHaveOne: (head) => thumbnailKind(head) !== null,
    wake: () => making.wake(),

    progress({ thumbnail }) {
      switch (thumbnail) {
        case 'made':
          return 'ready'
        case 'wanted':
          return 'pending'
        case null:
        case 'none':
        case 'unsupported':
        case 'failed':
          return 'none'
      }
    },

    async show({ blob_id: blob, thumbnail }, size) {
      switch (thumbnail) {
        case 'made': {
          const made = await findThumbnail(db, blob)
          return made === null ? { kind: 'later' } : { kind: 'picture', picture: pictureOf(blob, made, size) }
        }
        case 'wanted':
          return { kind: 'later' }
        case null:
          return ask(blob)
        case 'unsupported':
          return (await making.canMakePosters()) ? ask(blob) : { kind: 'never' }
        case 'none':
        case 'failed':
          return { kind: 'never' }
      }
    },

    async rendition({ blob_id, thumbnail }) {
      const made = thumbnail === 'made' ? await findThumbnail(db, blob_id) : null
      return made && { isSmaller: made.screen > 0, isTurned: made.turned > 0 }
    },

    shows: ({ thumbnail, type }) => mayShow(thumbnail, type),

    pixels: (files) =>
      thumbnailPixels(
        db,
        files.map(({ id }) => id),
      ),

    async without(files) {
      const states = await thumbnailStates(
        db,
        files.map(({ id }) => id),
      )
      return new Set(files.filter(({ id, type }) => !mayShow(states.get(id) ?? null, type)))
    },

    async read({ blob, key, start, size, whole }) {
      const bytes = new Uint8Array(size)
      try {
        await readInto(blobs, key, start, bytes, whole)
        return bytes
      } catch (error) {
        if (isLost(error)) await changed((trx) => remakeThumbnail(trx, blob, key, clock.now()))
        else if (!(error instanceof StoreFailure)) throw error
        report(error)
        return null
      }
    },
  }
}

/** For thumbnails switched off: records nothing, so that all can be made when they are switched on. */
export const noThumbnails: Thumbnails = {
  mayHaveOne: () => null,
  wake() {},
  progress: () => 'none',
  show: async () => ({ kind: 'never' }),
  rendition: async () => null,
  shows: () => false,
  pixels: async () => new Map(),
  without: async (files) => new Set(files),
  read: async () => null,
}

/** Before examination the type decides. */
function mayShow(state: ThumbnailState | null, type: string): boolean {
  return state === null ? /^(image|video)\//.test(type) : state === 'made' || state === 'wanted'
}

function pictureOf(
  blob: BlobId,
  { key, small, large, screen }: MadeThumbnail,
  size: ThumbnailSize,
): ThumbnailPicture {
  const whole = small + large + screen
  if (size === 'screen' && screen > 0) return { blob, key, start: small + large, size: screen, whole }
  return size !== 'small' && large > 0
    ? { blob, key, start: small, size: large, whole }
    : { blob, key, start: 0, size: small, whole }
}

export function thumbnailPath(uuid: Uuid): string {
  return `/t/${uuid}`
}

/** Addresses of a thumbnail's sizes with their widths in pixels, the smallest first. */
export function renditionsOf(
  address: string,
  pixels: Pixels | null,
): readonly { readonly address: string; readonly width: number }[] {
  if (pixels === null) return []
  const longer = Math.max(pixels.width, pixels.height)
  const rendition = (side: number, size: string) => ({
    address: `${address}?size=${size}`,
    width: Math.round(pixels.width * Math.min(1, side / longer)),
  })
  if (longer <= SMALL) return []
  const both = [rendition(SMALL, '320'), rendition(LARGE, '960')]
  return longer <= LARGE ? both : [...both, rendition(SCREEN, 'large')]
}

type Pictured = Shownable & { readonly uuid: Uuid; readonly name: string }

/** Relative addresses. Icons are shared by a kind of files and cached by browsers. */
export async function pictureAddresses(
  thumbnails: Pick<Thumbnails, 'without'>,
  files: readonly Pictured[],
): Promise<(file: Pictured) => string> {
  const iconsOnly = await thumbnails.without(files)
  return (file) => (iconsOnly.has(file) ? iconAddress(file.type, file.name) : thumbnailPath(file.uuid))
}

export function pictureAddress(
  thumbnails: Pick<Thumbnails, 'shows'>,
  file: Pictured & Parameters<Thumbnails['shows']>[0],
): string {
  return thumbnails.shows(file) ? thumbnailPath(file.uuid) : iconAddress(file.type, file.name)
}
