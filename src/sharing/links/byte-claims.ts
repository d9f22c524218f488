import type { FileId } from '../../domain/ids.ts'
import type { EventFile } from '../../domain/link-event.ts'

/** Bytes downloaded by a link, and from which address. */
export interface DownloadedBytes {
  readonly file: EventFile<FileId> | null
  /** null: unknown, or not to be kept. */
  readonly address: string | null
}

/** Bytes of a file or a zip that are to be sent. */
export interface PromisedBytes {
  readonly start: number
  /** Exclusive. */
  readonly end: number
  /** Size of the file or the zip. */
  readonly whole: number
}

/** Counts downloads by a link. */
export interface ByteClaims {
  /** Called before the first byte. Throws Refusal LINK_USED_UP when no place is left for the visitor. */
  begin(promised: PromisedBytes): Promise<RunningClaim>
}

export interface RunningClaim {
  /** Ends it. `unsent`: how many of the promised bytes were not sent. Never throws. */
  end(unsent: number): void
}
