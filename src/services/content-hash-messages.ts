import type { Sha256 } from '../domain/ids.ts'

/** What the server and its hashing thread tell each other. */

export interface Digest {
  readonly sha256: Sha256
  readonly crc32: number
}

export type HashRequest =
  /** Where the content's blocks will be from now on. */
  | { readonly kind: 'memory'; readonly content: number; readonly memory: SharedArrayBuffer }
  | {
      readonly kind: 'block'
      readonly content: number
      readonly offset: number
      readonly length: number
      readonly last: boolean
    }
  /** Nothing more, and nobody wants the digest. */
  | { readonly kind: 'drop'; readonly content: number }

/** The answer to a block: its memory may be filled again. */
export interface HashReply {
  readonly content: number
  /** Only after the last block. */
  readonly digest: Digest | null
}
