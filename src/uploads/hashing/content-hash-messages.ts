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
