import type { Caller } from '../../core/callers.ts'
import type { Refusal } from '../../domain/errors.ts'
import type { ExpectedChecksum } from './chunk-checksum.ts'

/** The bytes of one request as they come. */
export interface ByteSource {
  /** A chunk is good until the next read. Rejects when the sender is gone or too slow, and with what `end` was given. */
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  /** Milliseconds for which the present read has waited for the sender; 0 when nobody reads. */
  quietFor(): number
  end(reason: Refusal): void
}

/** The body of one append, with its sender and checksum. */
export interface AppendRequest {
  readonly caller: Caller
  readonly source: ByteSource
  readonly checksum: ExpectedChecksum | null
}
