export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'crc32c'] as const
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number]

export interface ExpectedChecksum {
  readonly algorithm: ChecksumAlgorithm
  readonly digest: Uint8Array
}

export interface ChunkChecksum {
  update(bytes: Uint8Array): void
  /** Call once, at the end. */
  matches(): boolean
}

export function startChecksum({ algorithm, digest }: ExpectedChecksum): ChunkChecksum {
  if (algorithm === 'crc32c') {
    let sum = 0
    return {
      update(bytes) {
        sum = crc32c(bytes, sum)
      },
      matches() {
        const bytes = Buffer.alloc(4)
        bytes.writeUInt32BE(sum)
        return bytes.equals(digest)
      },
    }
  }
  const hasher = new Bun.CryptoHasher(algorithm)
  return {
    update(bytes) {
      hasher.update(bytes)
    },
    matches: () => hasher.digest().equals(digest),
  }
}

/** CRC-32C (Castagnoli), reversed, RFC 3720. */
const POLYNOMIAL = 0x82f63b78

/** For the last byte; the other tables are for bytes followed by one, two or three more. */
const last = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1
  return rest >>> 0
})
const third = oneByteOn(last)
const second = oneByteOn(third)
const first = oneByteOn(second)

function oneByteOn(table: Uint32Array): Uint32Array {
  return table.map((rest) => (rest >>> 8) ^ (last[rest & 0xff] ?? 0))
}

export function crc32c(bytes: Uint8Array, before = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let rest = ~before
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    const word = rest ^ view.getInt32(at, true)
    rest =
      (first[word & 0xff] ?? 0) ^
      (second[(word >>> 8) & 0xff] ?? 0) ^
      (third[(word >>> 16) & 0xff] ?? 0) ^
      (last[word >>> 24] ?? 0)
  }
  for (; at < bytes.length; at++) rest = (rest >>> 8) ^ (last[(rest ^ view.getUint8(at)) & 0xff] ?? 0)
  return ~rest >>> 0
}
