import { crc32 } from 'node:zlib'
import type { Sha256 } from '../../domain/ids.ts'
import type { Digest } from './content-hash-messages.ts'

export class RunningDigest {
  readonly #sha256 = new Bun.CryptoHasher('sha256')
  #crc32 = 0

  update(bytes: Uint8Array): void {
    this.#sha256.update(bytes)
    this.#crc32 = crc32(bytes, this.#crc32)
  }

  /** Call once, at the end. */
  digest(): Digest {
    return { sha256: this.#sha256.digest('hex') as Sha256, crc32: this.#crc32 }
  }
}
