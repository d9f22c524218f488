import type { ChunkSize } from './chunk-size.ts'
import type { RemoteServer } from './http.ts'
import type { RemoteLine } from './line.ts'
import type { FoundFile, OpenFile } from './local-file.ts'
import type { Retries } from './retries.ts'
import type { TransferProgress, WatchedTransfer } from './transfer-progress.ts'
import type { LocalUploadId, UploadStates } from './upload-states.ts'

export interface UploadParts {
  readonly server: RemoteServer
  readonly retries: Retries
  readonly states: UploadStates
  readonly chunkSize: ChunkSize
  readonly watch: TransferProgress
  readonly line: RemoteLine
  readonly connections: number
}

export interface UploadJob {
  readonly id: LocalUploadId
  readonly file: FoundFile
  readonly opened: OpenFile
  readonly folder: string
  readonly transfer: WatchedTransfer
}
