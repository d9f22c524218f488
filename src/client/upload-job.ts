import type { ChunkSize } from './chunk-size.ts'
import type { Server } from './http.ts'
import type { FoundFile, OpenFile } from './local-file.ts'
import type { Retries } from './retries.ts'
import type { UploadId, UploadStates } from './upload-states.ts'
import type { Transfer, Watch } from './watch.ts'

/** What uploads of one command share. */
export interface UploadParts {
  readonly server: Server
  readonly retries: Retries
  readonly states: UploadStates
  readonly chunkSize: ChunkSize
  readonly watch: Watch
}

/** One upload of one file, on its way. */
export interface UploadJob {
  readonly id: UploadId
  readonly file: FoundFile
  readonly opened: OpenFile
  readonly folder: string
  readonly transfer: Transfer
}
