/** Bytes. */
export const BLOCK = 1024 * 1024

/** Some blocks are hashed and stored while the next is filled. */
const BLOCKS = 4

const LANES = 4

export interface Lane {
  readonly blocks: readonly Uint8Array[]
  /** Call once, when no thread reads the blocks any more. */
  giveBack(): void
}

/** Created once: passing new memory to another thread keeps both collecting garbage. */
export class SharedMemory {
  readonly bytes = new SharedArrayBuffer(LANES * BLOCKS * BLOCK)
  /** The lane used last comes first: its pages are resident. */
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
