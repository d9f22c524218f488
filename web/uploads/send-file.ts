import { RequestFailure } from './answers.ts'
import { appendBytes } from './patch.ts'

export interface FileSending {
  /** The path of the upload. */
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  /** Bytes that the server has. */
  readonly offset: number
  /** Bytes of the next request; asked before each. */
  readonly chunkSize: () => number
  readonly signal: AbortSignal
  /** Told of the bytes of the file that have gone off. */
  readonly onSent: (bytes: number) => void
}

/**
 * Sends what the server has not got of a file, and resolves when it has all of it, or `signal` was aborted. Throws
 * RequestFailure at the first request that fails: when to try again is decided for all uploads together.
 */
export async function sendLocalFile(file: Blob, sending: FileSending): Promise<void> {
  const { signal } = sending
  let { offset } = sending
  while (offset < file.size && !signal.aborted) {
    offset = await sendNext(file, { ...sending, offset }).catch((error: unknown) => {
      if (signal.aborted) return offset
      throw error
    })
  }
}

/** Sends the next request's bytes; resolves with the offset at which the server is then. Throws RequestFailure. */
export async function sendNext(file: Blob, sending: FileSending): Promise<number> {
  const { address, headers, offset: begin, chunkSize, signal, onSent } = sending
  const body = file.slice(begin, Math.min(file.size, begin + chunkSize()))
  const offset = await appendBytes({
    ...{ address, headers, offset: begin, body, signal },
    onSent: (bytes) => onSent(begin + bytes),
  })
  // Bytes that were taken move the offset, and never beyond them.
  if (offset <= begin || offset > begin + body.size) throw new RequestFailure(null)
  return offset
}
