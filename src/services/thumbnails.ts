import { type BlobStore, isLost, StoreFailure } from '../blobs/blob-store.ts'
import { isDatabaseFailure } from '../database/differences.ts'
import type { FileDetailRow, FileListRow } from '../database/files.ts'
import type { Db, ThumbnailState } from '../database/schema.ts'
import {
  findThumbnail,
  type MadeThumbnail,
  noteThumbnail,
  remakeThumbnail,
  thumbnailStates,
  wantThumbnail,
} from '../database/thumbnails.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import { thumbnailKind } from '../domain/thumbnail-kind.ts'
import type { ThumbnailMaking } from './thumbnail-making.ts'

export type ThumbnailSize = 'small' | 'large' | 'screen'

/** The bytes of a thumbnail in one size. */
export interface ThumbnailPicture {
  readonly blob: BlobId
  readonly key: BlobKey
  readonly start: number
  readonly size: number
  /** Bytes of all sizes together, which are one blob. */
  readonly whole: number
}

/** What there is to show: with `later`, there may be a picture soon. */
export type Shown =
  | { readonly kind: 'picture'; readonly picture: ThumbnailPicture }
  | { readonly kind: 'later' }
  | { readonly kind: 'never' }

/** `none` as long as nobody has asked for one of a file that is older than thumbnails. */
export type ThumbnailProgress = 'pending' | 'ready' | 'none'

/** What of a file tells whether it may have a thumbnail. */
export type Shownable = Pick<FileListRow, 'id' | 'type'>

/** For those who store contents. */
export interface ThumbnailIntake {
  /** Whether a content that begins like this may have a thumbnail; null where none are made. */
  mayHaveOne(head: Uint8Array): boolean | null
  /** To be said in the transaction that stores the content. */
  note(trx: Db, blob: BlobId, mayHaveOne: boolean): Promise<void>
  /** To be said when it has gone through. */
  wake(): void
}

export interface Thumbnails extends ThumbnailIntake {
  progress(file: Pick<FileDetailRow, 'thumbnail'>): ThumbnailProgress
  /** What is not made yet is asked for by that. Never throws because of that. */
  show(file: Pick<FileDetailRow, 'blob_id' | 'thumbnail'>, size: ThumbnailSize): Promise<Shown>
  /** Whether there is a picture of the content that is as large as a screen, and smaller than the content. */
  hasScreen(file: Pick<FileDetailRow, 'blob_id' | 'thumbnail'>): Promise<boolean>
  /** Of these files, those that `show` has nothing for, now or soon. */
  without<T extends Shownable>(files: readonly T[]): Promise<ReadonlySet<T>>
  /** Null when the bytes cannot be had at the moment; when they are lost, they are made anew. */
  read(picture: ThumbnailPicture): Promise<Uint8Array<ArrayBuffer> | null>
}

export function createThumbnails(parts: {
  db: Db
  blobs: BlobStore
  making: ThumbnailMaking
  clock: Clock
  report: (error: unknown) => void
}): Thumbnails {
  const { db, blobs, making, clock, report } = parts

  /** Who only looks is not told that something could not be written. */
  async function changed(change: (trx: Db) => Promise<void>): Promise<void> {
    try {
      await inTransaction(db, change)
      making.wake()
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error
      report(error)
    }
  }

  async function ask(blob: BlobId): Promise<Shown> {
    await changed((trx) => wantThumbnail(trx, blob, clock.now()))
    return { kind: 'later' }
  }

  return {
    mayHaveOne: (head) => thumbnailKind(head) !== null,
    note: (trx, blob, mayHaveOne) => noteThumbnail(trx, blob, mayHaveOne ? 'wanted' : 'none', clock.now()),
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

    async hasScreen({ blob_id, thumbnail }) {
      if (thumbnail !== 'made') return false
      const made = await findThumbnail(db, blob_id)
      return made !== null && made.screen > 0
    },

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
        await blobs.readInto(key, start, bytes, whole)
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

/** Where thumbnails are switched off: nothing is noted, so that all can be made when they are switched on. */
export const noThumbnails: Thumbnails = {
  mayHaveOne: () => null,
  async note() {},
  wake() {},
  progress: () => 'none',
  show: async () => ({ kind: 'never' }),
  hasScreen: async () => false,
  without: async (files) => new Set(files),
  read: async () => null,
}

/** What nobody has looked at yet is judged by its type. */
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
