import type { Caller } from '../../core/callers.ts'
import type { Refusal } from '../../domain/errors.ts'
import type { ExpectedChecksum } from './chunk-checksum.ts'

export interface ByteSource {
  /** A chunk is valid until the next read. Rejects for a gone or slow client, and with the reason of `end`. */
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  /** Milliseconds that the pending read has waited; 0 without one. */
  quietFor(): number
  end(reason: Refusal): void
}

export interface AppendRequest {
  readonly caller: Caller
  readonly source: ByteSource
  readonly checksum: ExpectedChecksum | null
}
