/** A buffer for the bytes of one request, so that they can be sent again. */
export interface S3Part {
  readonly size: number
  /** Number of bytes in it. */
  readonly filled: number
  readonly isFull: boolean
  /** Copies as many bytes as fit, and returns their number. */
  take(chunk: Uint8Array): number
  /** The bytes with their MD5; valid until more are added. */
  seal(): SealedPart
  /** Frees the memory now. Between two runs of the garbage collector parts would pile up. */
  free(): void
}

export interface SealedPart {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly md5: Buffer
}

/** Most files are small: the buffer grows as needed. */
const FIRST_CAPACITY = 64 * 1024

export function newPart(size: number): S3Part {
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

/** Size of a part, and how many parts an upload may have in memory: those that are sent, and the one that is filled. */
export interface PartPlan {
  readonly size: number
  readonly held: number
}

/** Parts are numbered from 1. */
export type PlanPart = (number: number) => PartPlan

/**
 * S3 takes 10,000 parts of 5 MiB to 5 GiB each. The size of a blob is not known when it begins, so parts grow with it:
 * they suffice for 232 GiB, and an upload never has more than 56 MiB in memory.
 */
export function usualPlan(number: number): PartPlan {
  if (number <= 1280) return { size: 8 * MIB, held: 4 }
  if (number <= 2600) return { size: 16 * MIB, held: 3 }
  return { size: 28 * MIB, held: 2 }
}

export const MOST_PARTS = 10_000
