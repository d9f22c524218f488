import { BlobDamaged, type BlobStore, type BlobWriter, StoreFailure } from '../blobs/blob-store.ts'
import { isUniqueViolation, lockAccount } from '../database/differences.ts'
import { findFile } from '../database/files.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import type { FolderPlace } from '../domain/ids.ts'
import { mediaType } from '../domain/media-type.ts'
import { makeBlobKey, makeSlug, makeUuid, type Random } from '../domain/random.ts'
import { formatSize } from '../domain/sizes.ts'
import { type Caller, ownerOf, reachOf } from './caller.ts'
import type { ContentHashing } from './content-hash.ts'
import type { Digest } from './content-hash-messages.ts'
import { FileHead } from './file-head.ts'
import { Intake } from './intake.ts'
import { placeOf } from './places.ts'
import type { Rooms } from './room.ts'
import type { StoreHealth } from './store-health.ts'
import { insertStoredFile, type StoredFile } from './stored-file.ts'
import type { ThumbnailIntake } from './thumbnails.ts'

/** Done in the transaction that stores the file. */
export type Alongside = (trx: Db, file: StoredFile) => Promise<void>

/** One file on its way in. After any error only `abort` makes sense. */
export interface Incoming {
  /** Takes the bytes, hashed on the way. Throws Refusal when a limit is passed or the store fails. */
  write(chunk: Uint8Array): Promise<void>
  /** Returns once bytes and row would survive a power cut, and what is done alongside. */
  finish(name: string, declaredType: string | null, alongside?: Alongside): Promise<StoredFile>
  /** Leaves nothing behind. Harmless after `finish`. */
  abort(): Promise<void>
}

export interface Uploads {
  /**
   * Refuses, before anything is read, what could not be stored anyway. `least` is what the file weighs at least.
   * Throws Refusal as `begin` does.
   */
  check(caller: Caller, place: FolderPlace, least: number): Promise<void>
  /**
   * Lets an upload begin: room is set aside before a byte is stored. `size` is what the file weighs at least and
   * at most, as far as the request tells.
   * Throws Refusal FOLDER_NOT_FOUND, FILE_TOO_LARGE, STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE, RATE_LIMITED.
   */
  begin(caller: Caller, place: FolderPlace, size: { least: number; most: number }): Promise<Incoming>
}

export function createUploads(parts: {
  db: Db
  blobs: BlobStore
  health: StoreHealth
  hashing: ContentHashing
  rooms: Rooms
  thumbnails: ThumbnailIntake
  clock: Clock
  random: Random
  maxFileSize: number
  /** Told of every file that is stored. */
  uploaded?: () => void
}): Uploads {
  const { db, blobs, health, hashing, rooms, thumbnails, clock, random, maxFileSize } = parts
  const { uploaded = () => {} } = parts

  function assertSize(bytes: number): void {
    if (bytes > maxFileSize) {
      throw new Refusal('FILE_TOO_LARGE', `A file may have ${formatSize(maxFileSize)} at most`)
    }
  }

  async function storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw health.refusalFor(error)
    }
  }

  return {
    async check(caller, place, least) {
      health.assertUsable()
      await placeOf(db, reachOf(caller), place)
      assertSize(least)
      await rooms.check(caller, least)
    },

    async begin(caller, place, size) {
      const account = ownerOf(caller)
      const folder = await placeOf(db, reachOf(caller), place)
      const key = makeBlobKey(random)
      const room = await rooms.setAside(caller, key, size.least, Math.min(size.most, maxFileSize))
      let writer: BlobWriter
      try {
        writer = await blobs.create(key)
      } catch (error) {
        await room.giveBack()
        throw health.refusalFor(error)
      }

      async function store(bytes: Uint8Array): Promise<void> {
        await writer.write(bytes)
        room.wrote(bytes.byteLength)
      }

      /** What has another length than was sent to it is no file, whatever the store says. */
      async function completeWhole(): Promise<void> {
        const stored = await writer.complete()
        if (stored === received) return
        throw new StoreFailure('broken', { cause: new BlobDamaged(key, stored, received) })
      }

      const hash = hashing.start()
      const intake = new Intake({
        hashing,
        hash,
        store: (bytes) => storing(() => store(bytes)),
        from: 0,
      })
      let received = 0
      let completed = false
      let stored = false
      const head = new FileHead()

      async function commit(
        name: string,
        type: string,
        mayHaveThumbnail: boolean | null,
        digest: Digest,
        alongside: Alongside,
      ): Promise<StoredFile> {
        const { sha256 } = digest
        const file = { uuid: makeUuid(random), slug: makeSlug(random), size: received, sha256 }
        const store = async (trx: Db) => {
          await lockAccount(trx, account)
          const whole = { ...file, account, folder, key, digest, name, type, mayHaveThumbnail }
          const id = await insertStoredFile(trx, thumbnails, whole, clock.now())
          await room.use(trx)
          await alongside(trx, { ...file, id })
          return id
        }
        const find = async () => {
          const row = await findFile(db, { kind: 'uuid', uuid: file.uuid })
          return row === undefined ? null : { value: row.id }
        }
        const id = await inTransaction(db, store, find)
        return { ...file, id }
      }

      return {
        async write(chunk) {
          received += chunk.byteLength
          assertSize(received)
          await room.cover(received)
          head.take(chunk)
          await intake.write(chunk)
        },

        async finish(rawName, declaredType, alongside = async () => {}) {
          const name = cleanFileName(rawName)
          const beginning = head.bytes()
          const type = await mediaType(name, declaredType, beginning)
          const mayHaveThumbnail = thumbnails.mayHaveOne(beginning)
          const digest = await intake.end()
          await storing(completeWhole)
          completed = true
          // Another upload's failed sync puts in doubt what the store has said of this one.
          health.assertUsable()
          const file = await untilUnique(() => commit(name, type, mayHaveThumbnail, digest, alongside))
          stored = true
          uploaded()
          await room.used(received)
          if (mayHaveThumbnail === true) thumbnails.wake()
          return file
        },

        async abort() {
          if (stored) return
          await intake.rest()
          hash.drop()
          try {
            // Once the row may be there, the bytes may be somebody's: that is left to the room, which asks the database.
            if (!completed) await writer.abort()
          } finally {
            await room.giveBack()
          }
        },
      }
    },
  }
}

/** Slugs and UUIDs are drawn, not counted: when one is taken, another is drawn. */
async function untilUnique<T>(insert: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await insert()
    } catch (error) {
      if (!isUniqueViolation(error) || tries === 5) throw error
    }
  }
}
