import type { Digest } from '../hashing/content-hash-messages.ts'

/** The bytes of one file on their way into the store. After any failure only `abort` makes sense. */
export interface IncomingContent {
  /** Takes the bytes, which are the caller's again when the promise is settled. Resolves when it wants more. */
  write(chunk: Uint8Array): Promise<void>

  /**
   * Returns once the store has all bytes, and they would survive a power cut. The blob gets its final name only after `recorded`.
   * Called once. Throws StoreFailure for a blob of another length than was written: it is no file, whatever the store says.
   */
  complete(recorded: Promise<void>): Promise<Digest>

  /** Removes everything that was written, also after a failed `complete`. */
  abort(): Promise<void>
}

/** Called when the store has so many bytes more. */
export type OnWritten = (bytes: number) => void
