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

/** Parts are numbered from 1. Tests have some of different sizes. */
export type PlanPart = (number: number) => PartPlan

const LEAST_PART = 8 * MIB
/** Of the 10,000 parts that S3 takes, with room for what a wrapper adds to the bytes. */
const PLANNED_PARTS = 9900
/** What an upload may have in memory, where its parts are not larger than half of that. */
const MEMORY = 56 * MIB

/**
 * The parts of a blob of at most so many bytes, all of one size: some stores take no others. S3 takes 10,000 parts of 5 MiB to
 * 5 GiB each.
 */
export function planFor(bytes: number): PlanPart {
  return planOf(Math.max(LEAST_PART, MIB * Math.ceil(bytes / PLANNED_PARTS / MIB)))
}

/** Parts of that size. */
export function planOf(size: number): PlanPart {
  const held = Math.min(4, Math.max(2, Math.floor(MEMORY / size)))
  return () => ({ size, held })
}

/** Bytes of the largest blob, where nobody says how large one may be. */
export const LARGEST_BLOB = 10 * 1024 ** 3

export const MOST_PARTS = 10_000
