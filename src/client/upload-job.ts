import type { ChunkSize } from './chunk-size.ts'
import type { RemoteServer } from './http.ts'
import type { FoundFile, OpenFile } from './local-file.ts'
import { CONNECTIONS, isHighLatency } from './policy/upload-policy.ts'
import type { Retries } from './retries.ts'
import { ping } from './tus.ts'
import type { UploadPlace } from './upload-place.ts'
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
  readonly place: UploadPlace
  readonly transfer: WatchedTransfer
}

export class RemoteLine {
  readonly #server: RemoteServer
  #answer: Promise<boolean> | null = null

  constructor(server: RemoteServer) {
    this.#server = server
  }

  /** Whether a round trip takes long. Measured once. */
  isLong(): Promise<boolean> {
    this.#answer ??= areAllLate(this.#server)
    return this.#answer
  }
}

/** Concurrent requests leave a connection for each part that is sent first. */
async function areAllLate(server: RemoteServer): Promise<boolean> {
  const began = performance.now()
  const requests = Array.from({ length: CONNECTIONS }, () => ping(server))
  try {
    await Promise.any(requests)
    return isHighLatency(performance.now() - began)
  } catch {
    // The upload itself retries and reports the failure.
    return false
  }
}

export interface TransferProgress {
  /** `size` null: unknown. `done`: bytes of an earlier run. */
  begin(name: string, size: number | null, done: number): WatchedTransfer
  expect(files: number, bytes: number): void
  say(line: string): void
}

export interface WatchedTransfer {
  /** May go back. */
  at(position: number): void
  end(): void
}
