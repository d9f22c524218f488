import { crc32c } from '../../domain/crc32c.ts'

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
