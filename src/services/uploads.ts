import type { BlobStore, BlobWriter } from '../blobs/blob-store.ts'
import { changeTotals } from '../database/accounts.ts'
import { adoptBlob } from '../database/blobs.ts'
import { isDatabaseFailure, isUniqueViolation, lockAccount } from '../database/differences.ts'
import { findFile, insertFile } from '../database/files.ts'
import { changeFiles } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName, foldName } from '../domain/file-name.ts'
import {
  type AccountId,
  type FileId,
  type FolderPlace,
  GUESTS,
  type Sha256,
  type Slug,
  type Uuid,
} from '../domain/ids.ts'
import { mediaType } from '../domain/media-type.ts'
import { makeBlobKey, makeSlug, makeUuid, type Random } from '../domain/random.ts'
import { formatSize } from '../domain/sizes.ts'
import type { Caller } from './caller.ts'
import { GARBAGE_GRACE } from './cleaning.ts'
import type { ContentHashing } from './content-hash.ts'
import type { Digest } from './content-hash-messages.ts'
import { assertPlaceLives, placeOf } from './places.ts'
import type { Rooms } from './room.ts'
import type { StoreHealth } from './store-health.ts'

export interface StoredFile {
  readonly id: FileId
  readonly uuid: Uuid
  readonly slug: Slug
  readonly size: number
  readonly sha256: Sha256
}

/** One file on its way in. After any error only `abort` makes sense. */
export interface Incoming {
  /** Takes the bytes, hashed on the way. Throws Refusal when a limit is passed or the store fails. */
  write(chunk: Uint8Array): Promise<void>
  /** Returns once bytes and row would survive a power cut. */
  finish(name: string, declaredType: string | null): Promise<StoredFile>
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

/** The type of a file without a telling name is read from its first bytes. */
const HEAD_LENGTH = 4100

export function createUploads(parts: {
  db: Db
  blobs: BlobStore
  health: StoreHealth
  hashing: ContentHashing
  rooms: Rooms
  clock: Clock
  random: Random
  maxFileSize: number
}): Uploads {
  const { db, blobs, health, hashing, rooms, clock, random, maxFileSize } = parts

  function assertSize(bytes: number): void {
    if (bytes > maxFileSize) {
      throw new Refusal('FILE_TOO_LARGE', `A file may have ${formatSize(maxFileSize)} at most`)
    }
  }

  const ownerOf = (caller: Caller): AccountId => (caller.kind === 'account' ? caller.account : GUESTS)

  return {
    async check(caller, place, least) {
      health.assertUsable()
      await placeOf(db, ownerOf(caller), place)
      assertSize(least)
      await rooms.check(caller, least)
    },

    async begin(caller, place, size) {
      const account = ownerOf(caller)
      const folder = await placeOf(db, account, place)
      const key = makeBlobKey(random)
      const room = await rooms.setAside(caller, key, size.least, Math.min(size.most, maxFileSize))
      let writer: BlobWriter
      try {
        writer = await blobs.create(key)
      } catch (error) {
        await room.giveBack()
        throw health.refusalFor(error)
      }

      const hash = hashing.start()
      let received = 0
      let completed = false
      let stored = false
      const head = new HeadOfFile()

      async function commit(name: string, type: string, digest: Digest): Promise<StoredFile> {
        const file = { uuid: makeUuid(random), size: received, sha256: digest.sha256 }
        const slug = makeSlug(random)
        const now = clock.now()
        const id = await inTransaction(db, async (trx) => {
          await lockAccount(trx, account)
          await assertPlaceLives(trx, folder)
          const blob_id = await adoptBlob(
            trx,
            { key, ...digest, size: received, created_at: now },
            now + GARBAGE_GRACE,
          )
          const row = await insertFile(trx, {
            uuid: file.uuid,
            slug,
            account_id: account,
            folder_id: folder,
            blob_id,
            name,
            name_folded: foldName(name),
            size: received,
            type,
            created_at: now,
            last_used_at: now,
          })
          await room.use(trx)
          await changeTotals(trx, account, { storage: received, files: 1 })
          await changeFiles(trx, folder, 1, received)
          return row.id
        }).catch(async (error: unknown) => {
          if (!isDatabaseFailure(error)) throw error
          // SQLite may say that a commit failed which went through: what is there decides.
          const row = await findFile(db, { kind: 'uuid', uuid: file.uuid }).catch(() => undefined)
          if (row === undefined) throw error
          return row.id
        })
        return { ...file, id, slug }
      }

      return {
        async write(chunk) {
          received += chunk.byteLength
          assertSize(received)
          await room.cover(received)
          head.take(chunk)
          await hash.update(chunk)
          try {
            await writer.write(chunk)
          } catch (error) {
            throw health.refusalFor(error)
          }
        },

        async finish(rawName, declaredType) {
          const name = cleanFileName(rawName)
          const type = await mediaType(name, declaredType, head.bytes())
          try {
            await writer.complete()
          } catch (error) {
            throw health.refusalFor(error)
          }
          completed = true
          // Another upload's failed sync puts in doubt what the store has said of this one.
          health.assertUsable()
          const digest = await hash.digest()
          const file = await untilUnique(() => commit(name, type, digest))
          stored = true
          await room.used(received)
          return file
        },

        async abort() {
          if (stored) return
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

/** The first bytes of what streams by. */
class HeadOfFile {
  readonly #chunks: Buffer[] = []
  #length = 0

  take(chunk: Uint8Array): void {
    if (this.#length >= HEAD_LENGTH) return
    const part = Buffer.from(chunk.subarray(0, HEAD_LENGTH - this.#length))
    this.#chunks.push(part)
    this.#length += part.length
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }
}
