import type { Sha256 } from '../../domain/ids.ts'

/** What the server and its hashing thread tell each other. */

export interface Digest {
  readonly sha256: Sha256
  readonly crc32: number
}

/** The thread answers every block and every end, those of one content in order. */
export type HashRequest =
  /** The first of all: where shared blocks lie. */
  | { readonly kind: 'memory'; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'shared'; readonly content: number; readonly offset: number; readonly length: number }
  | { readonly kind: 'copied'; readonly content: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly content: number }
  /** Nobody wants the digest any more. */
  | { readonly kind: 'drop'; readonly content: number }

export interface HashReply {
  readonly content: number
  /** Only after the end. */
  readonly digest: Digest | null
}
