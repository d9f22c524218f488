import type { Nodes } from '../core/nodes/nodes.ts'
import { type ClaimedThumbnail, claimThumbnail, type Turns } from '../core/thumbnails.rows.ts'
import { type CancelTimer, SECOND } from '../domain/clock.ts'
import type { NodeId } from '../domain/ids.ts'
import { type ClaimedThumbnailParts, ClaimedThumbnails } from './claimed-thumbnails.ts'

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
