import type { BlobStore } from '../blobs/blob-store.ts'
import { discardBlob, keepGarbage } from '../core/blobs.rows.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import { endThumbnail } from '../core/thumbnails.rows.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, MINUTE } from '../domain/clock.ts'
import type { BlobId, BlobKey, NodeId } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import type { Thumbnail } from './maker.ts'

/** Writing takes moments; older bytes without a row are from a killed node. */
const WRITTEN_WITHIN = 10 * MINUTE

export class ThumbnailStoring {
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #health: StoreHealth
  readonly #clock: Clock
  readonly #random: Random

  constructor(parts: {
    readonly db: Database
    readonly blobs: BlobStore
    readonly health: StoreHealth
    readonly clock: Clock
    readonly random: Random
  }) {
    this.#db = parts.db
    this.#blobs = parts.blobs
    this.#health = parts.health
    this.#clock = parts.clock
    this.#random = parts.random
  }

  /**
   * Stores the thumbnail and ends the node's claim on it. Registers the bytes as garbage first, so that a kill leaves
   * nothing behind; they stay garbage when the content or the claim is gone by then.
   */
  async store(blob: BlobId, node: NodeId, thumbnail: Thumbnail): Promise<void> {
    const key = makeBlobKey(this.#random)
    this.#health.assertUsable()
    await discardBlob(this.#db, key, this.#clock.now() + WRITTEN_WITHIN)
    await this.#write(key, thumbnail)
    const small = thumbnail.small.byteLength
    const large = thumbnail.large?.byteLength ?? 0
    const screen = thumbnail.screen?.byteLength ?? 0
    const turned = Number(thumbnail.isTurned)
    await inTransaction(this.#db, async (trx) => {
      const end = { state: 'made', key, small, large, screen, turned } as const
      if (!(await endThumbnail(trx, blob, node, end))) return
      if (!(await keepGarbage(trx, key))) throw new Error('writing a thumbnail took too long')
    })
  }

  async #write(key: BlobKey, { small, large, screen }: Thumbnail): Promise<void> {
    try {
      const writer = await this.#blobs.create(key)
      try {
        await writer.write(small)
        if (large !== null) await writer.write(large)
        if (screen !== null) await writer.write(screen)
        await writer.complete()
      } catch (error) {
        await writer.abort()
        throw error
      }
    } catch (error) {
      throw this.#health.refusalFor(error)
    }
  }
}
