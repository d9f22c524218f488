import { nextRequest } from '../../src/client/policy/last-bytes.ts'
import { RequestFailure } from './answers.ts'
import { appendBytes } from './patch.ts'
import { UploadOver } from './transfer-context.ts'

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
  /** Asked before the last bytes go off; null where those of others come after these. */
  readonly isUnchanged: (() => Promise<boolean>) | null
}

/**
 * Sends what the server has not got of a file, and resolves when it has all of it, or `signal` was aborted. Throws
 * RequestFailure at the first request that fails: when to try again is decided for all uploads together. Throws UploadOver
 * for a file that has changed, of which the server has not got the end then.
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

/** Sends the next request's bytes; resolves with the offset at which the server is then. Throws as `sendLocalFile`. */
export async function sendNext(file: Blob, sending: FileSending): Promise<number> {
  const { address, headers, offset: begin, signal, onSent } = sending
  const body = await nextBytes(file, sending)
  const offset = await appendBytes({
    ...{ address, headers, offset: begin, body, signal },
    onSent: (bytes) => onSent(begin + bytes),
  })
  // Bytes that were taken move the offset, and never beyond them.
  if (offset <= begin || offset > begin + body.size) throw new RequestFailure(null)
  return offset
}

/**
 * A browser looks at the date of a file only when it opens it for a request, so a file that is overwritten after that goes
 * off as a mixture. With the last bytes of a file it is stored: they are in memory, and all before them has arrived, when
 * the date is looked at for the last time.
 */
async function nextBytes(
  file: Blob,
  { offset, chunkSize, isUnchanged }: Pick<FileSending, 'offset' | 'chunkSize' | 'isUnchanged'>,
): Promise<Blob> {
  const most = chunkSize()
  if (isUnchanged === null) return file.slice(offset, Math.min(file.size, offset + most))
  const { length, isLast } = nextRequest(file.size - offset, most)
  if (!isLast) return file.slice(offset, offset + length)
  const rest = await file
    .slice(offset)
    .arrayBuffer()
    .catch(() => null)
  if (rest === null || rest.byteLength !== file.size - offset || !(await isUnchanged())) {
    throw new UploadOver({ kind: 'changed' })
  }
  return new Blob([rest])
}
