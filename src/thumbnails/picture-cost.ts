import { totalmem } from 'node:os'
import type { Metadata } from 'sharp'

const MB = 1024 * 1024

/** Phone sensors have up to 200 million. */
const MOST_PIXELS = 400_000_000

const BASE = 96 * MB
const FILE_COPIES = 2
/** Rows kept while a picture is read from top to bottom, and bytes a sample while it is scaled down. */
const KEPT_ROWS = 1024
const KEPT_BYTES = 1.6

/** Bytes: an eighth, which leaves the rest to the server; at least a photo's need, and at most 1 GB. */
export function memoryFor(total: number): number {
  return Math.min(Math.max(total / 8, 256 * MB), 1024 * MB)
}

/** Bytes of this machine, or of the control group where that has less. */
export function machineMemory(): number {
  const group = process.constrainedMemory()
  return group > 0 ? Math.min(group, totalmem()) : totalmem()
}

/** Why a picture needs more than `memory` bytes; null where it does not. */
export function whyTooLarge(head: Metadata, fileSize: number, memory: number): string | null {
  const pixels = head.width * head.height
  if (pixels > MOST_PIXELS) return `it has ${pixels} pixels`
  const needed = BASE + FILE_COPIES * fileSize + decoding(head)
  return needed > memory ? `it would take ${Math.ceil(needed / MB)} MB` : null
}

/** Bytes, from measurements of each format: docs/decisions/thumbnails.md#limits-are-in-memory-and-time. */
function decoding(head: Metadata): number {
  const { width, height, format } = head
  const rows = width * head.channels * bytesPerSample(head) * Math.min(height, KEPT_ROWS) * KEPT_BYTES
  // JPEG and WebP are decoded at a smaller scale, and none of their rows are kept.
  return width * height * bytesPerPixel(head) + (format === 'jpeg' || format === 'webp' ? 0 : rows)
}

function bytesPerPixel(head: Metadata): number {
  const { format, channels, isProgressive, chromaSubsampling, pages = 1 } = head
  switch (format) {
    case 'jpeg':
      // Two bytes a coefficient.
      return isProgressive ? (chromaSubsampling === '4:2:0' ? 3 : 2 * channels) : 0
    case 'png':
      return isProgressive ? channels * bytesPerSample(head) : 0
    case 'webp':
      return pages > 1 ? 10 : 5
    case 'gif':
      return pages > 1 ? 16 : 6
    case 'heif':
      return bytesPerSample(head) > 1 ? 24 : 18
    case 'tiff':
      // Tiles are assembled, and a strip may be the whole picture.
      return 1.5 * channels * bytesPerSample(head)
    default:
      return 18
  }
}

const DEPTHS: Readonly<Record<string, number>> = {
  ...{ uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 },
  ...{ complex: 8, double: 8, dpcomplex: 16 },
}

function bytesPerSample({ depth }: Metadata): number {
  return DEPTHS[depth] ?? 16
}

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Null when the stream ends before that many bytes. */
  async take(length: number): Promise<Uint8Array | null> {
    const taken = new Uint8Array(length)
    for (let filled = 0; filled < length; ) {
      if (this.#rest.byteLength === 0) {
        const { done, value } = await this.#chunks.next()
        if (done === true) return null
        this.#rest = value
      }
      const part = this.#rest.subarray(0, length - filled)
      taken.set(part, filled)
      this.#rest = this.#rest.subarray(part.byteLength)
      filled += part.byteLength
    }
    return taken
  }
}
