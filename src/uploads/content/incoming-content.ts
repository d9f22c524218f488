import type { Digest } from '../hashing/content-hash-messages.ts'

/** After any failure only `abort` makes sense. */
export interface IncomingContent {
  /** The bytes may be reused once the promise is settled. Resolving late is the backpressure. */
  write(chunk: Uint8Array): Promise<void>

  /**
   * Returns once all bytes are durable. The final name waits for `recorded`. Throws StoreFailure for a wrong length.
   */
  complete(recorded: Promise<void>): Promise<Digest>

  /** Removes everything written, also after a failed `complete`. */
  abort(): Promise<void>
}

export type OnWritten = (bytes: number) => void
