import type { KeptChunkSize } from './chunk-size.ts'
import type { KeptUploads } from './kept-uploads.ts'
import type { Line } from './line.ts'
import type { Connections } from './parts/connections.ts'
import type { LatencyProbe } from './parts/latency-probe.ts'
import type { Semaphore } from './semaphore.ts'
import type { Destination } from './server.ts'
import type { Reason, UploadProblem } from './verdict.ts'

/** What all uploads of the page share. */
export interface TransferContext {
  readonly to: Destination
  readonly kept: KeptUploads
  readonly chunks: KeptChunkSize
  /** Bytes that one file may have. */
  readonly limit: number
  /**
   * Uploads with a link of which nothing has been sent yet: the server allows an address only so many, and makes it wait
   * for long.
   */
  readonly ahead: Semaphore
  readonly connections: Connections
  readonly longLine: LatencyProbe
  /** Making links and sending bytes are waited for apart: a used-up limit of links does not hold bytes back. */
  readonly creating: { readonly line: Line; readonly turns: Semaphore }
  readonly sending: { readonly line: Line; readonly turns: Semaphore }
}

/** What is told on the way. */
export interface TransferListener {
  stage(stage: 'starting' | 'queued' | 'sending' | 'processing'): void
  waiting(reason: Reason, until: number): void
  link(link: string): void
  sent(bytes: number): void
}

/** The upload is over, and why. */
export class UploadOver extends Error {
  override readonly name = 'UploadOver'

  constructor(readonly problem: UploadProblem) {
    super(problem.kind)
  }
}
