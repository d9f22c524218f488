import { crc32 } from 'node:zlib'
import type { Sha256 } from '../../domain/ids.ts'

export interface Digest {
  readonly sha256: Sha256
  readonly crc32: number
}

/** Every block and end is answered, in order for each content. */
export type HashRequest =
  /** Sent first. */
  | { readonly kind: 'memory'; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'shared'; readonly content: number; readonly offset: number; readonly length: number }
  | { readonly kind: 'copied'; readonly content: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly content: number }
  | { readonly kind: 'drop'; readonly content: number }

export interface HashReply {
  readonly content: number
  readonly digest: Digest | null
}

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
