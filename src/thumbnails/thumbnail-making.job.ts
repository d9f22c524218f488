import { BlobMissing, type BlobStore, readInto } from '../blobs/blob-store.ts'
import { discardBlob, keepGarbage } from '../core/blobs.rows.ts'
import { outageRefusal } from '../core/failures.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import { type ClaimedThumbnail, claimThumbnail, endThumbnail, type Turns } from '../core/thumbnails.rows.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type CancelTimer, type Clock, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { BlobId, BlobKey, NodeId } from '../domain/ids.ts'
import { THUMBNAIL_HEAD, thumbnailKind } from '../domain/media-type.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import {
  type Source,
  type Thumbnail,
  type ThumbnailMaker,
  ThumbnailMakerUnavailable,
  type ThumbnailResult,
} from './maker.ts'

/** Each node makes one thumbnail at a time, each thumbnail is made on one node, and uploaders take turns. */
export interface ThumbnailMaking {
  /** Until no wanted thumbnail is due. Concurrent calls share one run. */
  run(): Promise<void>
  canMakePosters(): Promise<boolean>
  /** Starts a run soon. Returns at once. */
  wake(): void
  /** Gives back the thumbnail in progress. */
  stop(): Promise<void>
}

/** Accounts and addresses of senders without one alternate, so that many addresses delay no account. */
const ACCOUNTS: Turns = { least: 0, most: Number.MAX_SAFE_INTEGER, last: -1 }
const ADDRESSES: Turns = { least: -(2 ** 49), most: -1, last: -(2 ** 49) - 1 }

/** The upload is answered first. */
const WAKE_AFTER = SECOND / 10

interface ThumbnailMakingParts extends ClaimedThumbnailParts {
  readonly nodes: Nodes
}

export function createThumbnailMaking(parts: ThumbnailMakingParts): ThumbnailMaking {
  return new MakingRuns(parts)
}

class MakingRuns implements ThumbnailMaking {
  readonly #parts: ThumbnailMakingParts
  readonly #stopping = new AbortController()
  readonly #thumbnails: ClaimedThumbnails
  #turns: readonly [Turns, Turns] = [ACCOUNTS, ADDRESSES]
  #running: Promise<void> | null = null
  #isWoken = false
  #cancelWaking: CancelTimer | null = null

  constructor(parts: ThumbnailMakingParts) {
    this.#parts = parts
    this.#thumbnails = new ClaimedThumbnails(parts, this.#stopping.signal)
  }

  run(): Promise<void> {
    this.#running ??= this.#makeAll().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  canMakePosters(): Promise<boolean> {
    return this.#parts.maker.canMakePosters()
  }

  wake(): void {
    this.#isWoken = true
    if (this.#running !== null || this.#stopping.signal.aborted) return
    this.#cancelWaking ??= this.#parts.clock.timers.after(WAKE_AFTER, () => {
      this.#cancelWaking = null
      this.run().catch((error: unknown) =>
        this.#parts.log.error({ err: error }, 'thumbnails could not be made'),
      )
    })
  }

  async stop(): Promise<void> {
    this.#cancelWaking?.()
    this.#stopping.abort(new Error('the server is stopping'))
    await this.#running?.catch(() => {})
    this.#parts.maker.close()
  }

  async #makeAll(): Promise<void> {
    const { nodes } = this.#parts
    const { signal } = this.#stopping
    do {
      this.#isWoken = false
      while (!signal.aborted && nodes.isSurelyAlive()) {
        const node = nodes.id()
        const claimed = await this.#claim(node)
        if (claimed === null) break
        await this.#thumbnails.make(claimed, node)
      }
    } while (this.#isWoken && !signal.aborted)
  }

  async #claim(node: NodeId): Promise<ClaimedThumbnail | null> {
    const { db, clock } = this.#parts
    const [next, other] = this.#turns
    const first = await claimThumbnail(db, node, clock.now(), next)
    if (first !== null) {
      this.#turns = [other, { ...next, last: first.turn }]
      return first
    }
    const second = await claimThumbnail(db, node, clock.now(), other)
    if (second !== null) this.#turns = [next, { ...other, last: second.turn }]
    return second
  }
}

/** Then a thumbnail counts as failed: its content may kill the process that reads it. */
export const MOST_TRIES = 3
/** After the first try; later waits are multiples. */
const BACKOFF = MINUTE
/** An outage of database, store or maker does not count as a try. */
const AFTER_OUTAGE = 30 * SECOND

export interface ClaimedThumbnailParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly health: StoreHealth
  readonly maker: ThumbnailMaker
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export class ClaimedThumbnails {
  readonly #parts: ClaimedThumbnailParts
  readonly #storing: ThumbnailStoring
  readonly #signal: AbortSignal

  constructor(parts: ClaimedThumbnailParts, signal: AbortSignal) {
    this.#parts = parts
    this.#storing = new ThumbnailStoring(parts)
    this.#signal = signal
  }

  /** Makes the thumbnail and ends the node's claim. Throws only when database, store or maker are unavailable. */
  async make(claimed: ClaimedThumbnail, node: NodeId): Promise<void> {
    try {
      await this.#end(claimed, node, await this.#tryToMake(claimed))
    } catch (error) {
      await this.#endFailed(claimed, node, error)
    }
  }

  async #tryToMake({ key, size }: ClaimedThumbnail): Promise<ThumbnailResult> {
    const { blobs, maker } = this.#parts
    const source: Source = {
      size,
      readInto: (start, target) => readInto(blobs, key, start, target, size),
    }
    const head = new Uint8Array(Math.min(size, THUMBNAIL_HEAD))
    await source.readInto(0, head)
    const kind = thumbnailKind(head)
    if (kind === null) return { kind: 'none', reason: 'it is neither picture nor film' }
    return maker.make(kind, source, this.#signal)
  }

  async #end({ blob }: ClaimedThumbnail, node: NodeId, making: ThumbnailResult): Promise<void> {
    const { db, log } = this.#parts
    switch (making.kind) {
      case 'made':
        return this.#storing.store(blob, node, making.thumbnail)
      case 'none':
        log.debug({ blob, reason: making.reason }, 'nothing can be made a thumbnail of')
        await endThumbnail(db, blob, node, { state: 'none' })
        return
      case 'unsupported':
        await endThumbnail(db, blob, node, { state: 'unsupported' })
        return
    }
  }

  /** Rethrows outages. */
  async #endFailed(claimed: ClaimedThumbnail, node: NodeId, error: unknown): Promise<void> {
    const { db, log } = this.#parts
    const { blob, tries } = claimed
    if (this.#signal.aborted) {
      await this.#giveBack(claimed, node, 0, tries - 1)
    } else if (isOutage(error)) {
      await this.#giveBack(claimed, node, AFTER_OUTAGE, tries - 1)
      throw error
    } else if (tries < MOST_TRIES) {
      log.warn({ blob, tries, err: error }, 'a thumbnail could not be made and is tried again')
      // A newer copy of the content may just have replaced it.
      await this.#giveBack(claimed, node, error instanceof BlobMissing ? 0 : tries * BACKOFF, tries)
    } else {
      log.error({ blob, tries, err: error }, 'a thumbnail failed too often and is set aside')
      await endThumbnail(db, blob, node, { state: 'failed' })
    }
  }

  async #giveBack({ blob }: ClaimedThumbnail, node: NodeId, wait: number, tries: number): Promise<void> {
    const { db, clock } = this.#parts
    await endThumbnail(db, blob, node, { state: 'wanted', tries, due_at: clock.now() + wait })
  }
}

function isOutage(error: unknown): boolean {
  if (error instanceof ThumbnailMakerUnavailable || outageRefusal(error) !== null) return true
  return error instanceof Refusal && error.code === 'STORAGE_UNAVAILABLE'
}

/** Writing takes moments; older bytes without a row are from a killed node. */
const WRITTEN_WITHIN = 10 * MINUTE

class ThumbnailStoring {
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
    const { width, height } = thumbnail
    await inTransaction(this.#db, async (trx) => {
      const end = { state: 'made', key, small, large, screen, turned, width, height } as const
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
