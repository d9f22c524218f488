import type { Sha256 } from '../domain/ids.ts'

/** What the server and its hashing thread tell each other. */

export interface Digest {
  readonly sha256: Sha256
  readonly crc32: number
}

export interface HashRequest {
  readonly content: number
  /** Null: nothing more, and nobody wants the digest. */
  readonly block: ArrayBuffer | null
  readonly length: number
  readonly last: boolean
}

export interface HashReply {
  readonly content: number
  readonly block: ArrayBuffer | null
  /** Only after the last block. */
  readonly digest: Digest | null
}
