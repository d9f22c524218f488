/** What of a blob goes to the store in one request: gathered here, so that it can be sent again. */
export interface Part {
  readonly size: number
  /** Bytes taken so far. */
  readonly filled: number
  readonly isFull: boolean
  /** Takes what fits; returns how many bytes that were. The chunk may be reused at once. */
  take(chunk: Uint8Array): number
  /** All that was taken so far, with its MD5; good until more is taken. */
  seal(): SealedPart
  /** Lets the memory go at once. Left to the garbage collector, parts would pile up between its rounds. */
  free(): void
}

export interface SealedPart {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly md5: Buffer
}

/** Most files are small: memory is taken as it is needed. */
const FIRST_CAPACITY = 64 * 1024

export function newPart(size: number): Part {
  const hash = new Bun.CryptoHasher('md5')
  let buffer = new ArrayBuffer(Math.min(FIRST_CAPACITY, size))
  let filled = 0

  function growTo(wanted: number): void {
    let capacity = buffer.byteLength
    while (capacity < wanted) capacity *= 2
    buffer = buffer.transfer(Math.min(capacity, size))
  }

  return {
    size,
    get filled() {
      return filled
    },
    get isFull() {
      return filled === size
    },
    take(chunk) {
      const bytes = chunk.subarray(0, size - filled)
      if (filled + bytes.byteLength > buffer.byteLength) growTo(filled + bytes.byteLength)
      new Uint8Array(buffer).set(bytes, filled)
      hash.update(bytes)
      filled += bytes.byteLength
      return bytes.byteLength
    },
    seal: () => ({ bytes: new Uint8Array(buffer, 0, filled), md5: hash.copy().digest() }),
    free() {
      buffer.transfer(0)
    },
  }
}

const MIB = 1024 * 1024

/** How large a part is, and how many the upload may hold in memory: being sent, and one being filled. */
export interface PartPlan {
  readonly size: number
  readonly held: number
}

/** Parts are numbered from 1. */
export type PlanPart = (number: number) => PartPlan

/**
 * S3 takes 10,000 parts of 5 MiB to 5 GiB each. Parts grow with the blob, so that they suffice for 232 GiB, while an
 * upload never holds more than 56 MiB. How large a blob will become is not known when it begins.
 */
export function usualPlan(number: number): PartPlan {
  if (number <= 1280) return { size: 8 * MIB, held: 4 }
  if (number <= 2600) return { size: 16 * MIB, held: 3 }
  return { size: 28 * MIB, held: 2 }
}

export const MOST_PARTS = 10_000
