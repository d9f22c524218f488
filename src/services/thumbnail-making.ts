import { BlobMissing, type BlobStore } from '../blobs/blob-store.ts'
import { discardBlob, keepGarbage } from '../database/blobs.ts'
import type { Db } from '../database/schema.ts'
import { type ClaimedThumbnail, claimThumbnail, endThumbnail } from '../database/thumbnails.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, MINUTE, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { BlobKey, NodeId } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { THUMBNAIL_HEAD, thumbnailKind } from '../domain/thumbnail-kind.ts'
import type { Log } from '../log.ts'
import {
  MakerUnavailable,
  type Making,
  type Source,
  type Thumbnail,
  type ThumbnailMaker,
} from '../thumbnails/maker.ts'
import { outageRefusal } from './failures.ts'
import type { Nodes } from './nodes.ts'
import type { StoreHealth } from './store-health.ts'

/** Makes the thumbnails that are wanted, one at a time in each node, and each by one of the nodes. */
export interface ThumbnailMaking {
  /** Makes what is wanted and due until nothing is left. Joins a run that is under way. */
  run(): Promise<void>
  /** Whether what was `unsupported` may be tried again here. */
  canMakePosters(): Promise<boolean>
  /** There may be something new. Returns at once. */
  wake(): void
  /** Gives back what is being made, and begins with nothing any more. */
  stop(): Promise<void>
}

/** A content that has ended its process so often is left alone. */
export const MOST_TRIES = 3
const TRY_AGAIN = MINUTE
/** After what is nobody's fault. */
const AFTER_OUTAGE = 30 * SECOND
/** The answer to the upload goes first. */
const WAKE_AFTER = SECOND / 10
/** Bytes that no row points to by then are of a node that was killed. Writing them takes moments. */
const WRITTEN_WITHIN = 10 * MINUTE

export function createThumbnailMaking(parts: {
  db: Db
  blobs: BlobStore
  health: StoreHealth
  maker: ThumbnailMaker
  nodes: Nodes
  clock: Clock
  random: Random
  log: Log
}): ThumbnailMaking {
  const { db, blobs, health, maker, nodes, clock, random, log } = parts
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  let isWoken = false
  let waking: Timer | undefined

  async function makeAll(): Promise<void> {
    do {
      isWoken = false
      while (!stopping.signal.aborted && nodes.isSurelyAlive()) {
        const node = nodes.id()
        const claimed = await claimThumbnail(db, node, clock.now())
        if (claimed === null) break
        await makeOne(claimed, node)
      }
    } while (isWoken && !stopping.signal.aborted)
  }

  /** Throws only when database, store or maker are away. */
  async function makeOne(claimed: ClaimedThumbnail, node: NodeId): Promise<void> {
    const { blob, tries } = claimed
    const giveBack = (later: number, tries: number) =>
      endThumbnail(db, blob, node, { state: 'wanted', tries, due_at: clock.now() + later })
    try {
      await settle(claimed, node, await make(claimed))
    } catch (error) {
      if (stopping.signal.aborted) {
        await giveBack(0, tries - 1)
      } else if (isOutage(error)) {
        await giveBack(AFTER_OUTAGE, tries - 1)
        throw error
      } else if (tries < MOST_TRIES) {
        log.warn({ blob, tries, err: error }, 'a thumbnail could not be made and is tried again')
        // A newer copy of the content may just have taken the place of the one that was looked for.
        await giveBack(error instanceof BlobMissing ? 0 : tries * TRY_AGAIN, tries)
      } else {
        log.error({ blob, tries, err: error }, 'a thumbnail failed too often and is set aside')
        await endThumbnail(db, blob, node, { state: 'failed' })
      }
    }
  }

  async function make({ key, size }: ClaimedThumbnail): Promise<Making> {
    const source: Source = {
      size,
      readInto: (start, target) => blobs.readInto(key, start, target, size),
    }
    const head = new Uint8Array(Math.min(size, THUMBNAIL_HEAD))
    await source.readInto(0, head)
    const kind = thumbnailKind(head)
    if (kind === null) return { kind: 'none', reason: 'it is neither picture nor film' }
    return maker.make(kind, source, stopping.signal)
  }

  async function settle({ blob }: ClaimedThumbnail, node: NodeId, making: Making): Promise<void> {
    switch (making.kind) {
      case 'made':
        return keep(blob, node, making.thumbnail)
      case 'none':
        log.debug({ blob, reason: making.reason }, 'nothing can be made a thumbnail of')
        await endThumbnail(db, blob, node, { state: 'none' })
        return
      case 'unsupported':
        await endThumbnail(db, blob, node, { state: 'unsupported' })
        return
    }
  }

  /** As garbage at first, so that a node that is killed in the middle leaves nothing behind. */
  async function keep(blob: ClaimedThumbnail['blob'], node: NodeId, made: Thumbnail): Promise<void> {
    const key = makeBlobKey(random)
    health.assertUsable()
    await discardBlob(db, key, clock.now() + WRITTEN_WITHIN)
    await write(key, made)
    const small = made.small.byteLength
    const large = made.large?.byteLength ?? 0
    const screen = made.screen?.byteLength ?? 0
    await inTransaction(db, async (trx) => {
      // Where content or claim went meanwhile it stays garbage.
      if (!(await endThumbnail(trx, blob, node, { state: 'made', key, small, large, screen }))) return
      if (!(await keepGarbage(trx, key))) throw new Error('writing a thumbnail took too long')
    })
  }

  async function write(key: BlobKey, { small, large, screen }: Thumbnail): Promise<void> {
    try {
      const writer = await blobs.create(key)
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
      throw health.refusalFor(error)
    }
  }

  const making: ThumbnailMaking = {
    run() {
      running ??= makeAll().finally(() => {
        running = null
      })
      return running
    },

    canMakePosters: () => maker.canMakePosters(),

    wake() {
      isWoken = true
      if (running !== null || stopping.signal.aborted) return
      waking ??= setTimeout(() => {
        waking = undefined
        making.run().catch((error: unknown) => log.error({ err: error }, 'thumbnails could not be made'))
      }, WAKE_AFTER).unref()
    },

    async stop() {
      clearTimeout(waking)
      stopping.abort(new Error('the server is stopping'))
      await running?.catch(() => {})
      maker.close()
    },
  }
  return making
}

function isOutage(error: unknown): boolean {
  if (error instanceof MakerUnavailable || outageRefusal(error) !== null) return true
  return error instanceof Refusal && error.code === 'STORAGE_UNAVAILABLE'
}
