import type { EventFile } from '../../domain/event-kinds.ts'
import type { FileId } from '../../domain/ids.ts'

export interface DownloadedBytes {
  readonly file: EventFile<FileId> | null
  readonly address: string | null
}

export interface PromisedBytes {
  readonly start: number
  /** Exclusive. */
  readonly end: number
  readonly whole: number
}

export interface ByteClaims {
  /** Call before the first byte. Throws Refusal LINK_USED_UP when the visitor gets no slot. */
  begin(promised: PromisedBytes): Promise<RunningClaim>
}

export interface RunningClaim {
  /** `unsent`: promised bytes that were not sent. Never throws. */
  end(unsent: number): void
}
