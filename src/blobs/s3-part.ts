/** A buffer for the bytes of one request, so that they can be sent again. */
export interface S3Part {
  readonly size: number
  readonly filled: number
  readonly isFull: boolean
  take(chunk: Uint8Array): number
  /** Valid until more bytes are added. */
  seal(): SealedPart
  /** Frees the memory at once: parts would pile up between garbage collections. */
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

/** `held`: parts in memory, the one being filled included. */
export interface PartPlan {
  readonly size: number
  readonly held: number
}

/** Numbered from 1. Tests have different sizes. */
export type PlanPart = (number: number) => PartPlan

const LEAST_PART = 8 * MIB
/** Of the 10,000 parts S3 takes, with room for a wrapper's overhead. */
const PLANNED_PARTS = 9900
/** Memory of one upload, unless its parts are larger than half of it. */
const MEMORY = 56 * MIB

/** Equal parts, as some stores require. S3 takes 10,000 parts of 5 MiB to 5 GiB each. */
export function planFor(bytes: number): PlanPart {
  return planOf(Math.max(LEAST_PART, MIB * Math.ceil(bytes / PLANNED_PARTS / MIB)))
}

export function planOf(size: number): PlanPart {
  const held = Math.min(4, Math.max(2, Math.floor(MEMORY / size)))
  return () => ({ size, held })
}

export const LARGEST_BLOB = 10 * 1024 ** 3

export const MOST_PARTS = 10_000
