import type { KeptChunkSize } from './chunk-size.ts'
import type { KeptUploads } from './kept-uploads.ts'
import type { Line } from './line.ts'
import type { Semaphore } from './semaphore.ts'
import type { Destination } from './server.ts'
import type { Reason, UploadProblem } from './verdict.ts'

export interface TransferContext {
  readonly to: Destination
  readonly kept: KeptUploads
  readonly chunks: KeptChunkSize
  /** Bytes per file. */
  readonly limit: number
  /** Created uploads without bytes: the server limits them per address, and its wait is long. */
  readonly ahead: Semaphore
  /** Separate, so that a used-up limit of creations does not hold bytes back. */
  readonly creating: { readonly line: Line; readonly turns: Semaphore }
  readonly sending: { readonly line: Line; readonly turns: Semaphore }
}

export interface TransferListener {
  stage(stage: 'starting' | 'queued' | 'sending' | 'processing'): void
  waiting(reason: Reason, until: number): void
  link(link: string): void
  sent(bytes: number): void
}

export class UploadOver extends Error {
  override readonly name = 'UploadOver'

  constructor(readonly problem: UploadProblem) {
    super(problem.kind)
  }
}
