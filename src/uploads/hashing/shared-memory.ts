/** Memory for bytes of a content before they are hashed and stored. */
export const BLOCK = 1024 * 1024

/** Blocks of one content: some are on their way while the next is filled. */
const BLOCKS = 4

/** Contents that have memory at a time. */
const LANES = 4

/** Memory for one content. */
export interface Lane {
  readonly blocks: readonly Uint8Array[]
  /** Called once, when nobody reads them any more. */
  giveBack(): void
}

/**
 * Memory that several threads see, lent to contents on their way. It is made once: telling another thread of new memory
 * again and again has both collect garbage all the time.
 */
export class SharedMemory {
  readonly bytes = new SharedArrayBuffer(LANES * BLOCKS * BLOCK)
  /** The lane that was used last is lent first: its pages are there. */
  readonly #free = Array.from({ length: LANES }, (_, number) => number)

  lend(): Lane | null {
    const number = this.#free.pop()
    if (number === undefined) return null
    const blocks = Array.from({ length: BLOCKS }, (_, index) => {
      return new Uint8Array(this.bytes, (number * BLOCKS + index) * BLOCK, BLOCK)
    })
    return { blocks, giveBack: () => this.#free.push(number) }
  }
}
