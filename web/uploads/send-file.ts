import { nextRequest } from '../../src/client/policy/upload-policy.ts'
import { RequestFailure } from './answers.ts'
import { appendBytes } from './patch.ts'
import { UploadOver } from './transfer-context.ts'

export interface FileSending {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly offset: number
  /** Bytes of the next request; asked before each. */
  readonly chunkSize: () => number
  readonly signal: AbortSignal
  readonly onSent: (bytes: number) => void
  /** Called before the last bytes; null where others follow, which store the file. */
  readonly isUnchanged: (() => Promise<boolean>) | null
}

/**
 * Resolves when the server has the whole file, or `signal` was aborted. Throws RequestFailure at the first
 * failed request, since retries are decided for all uploads together, and UploadOver for a changed file,
 * whose end is then not sent.
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

/** Sends one request's bytes; resolves with the server's offset. Throws as `sendLocalFile`. */
async function sendNext(file: Blob, sending: FileSending): Promise<number> {
  const { address, headers, offset: begin, signal, onSent } = sending
  const body = await nextBytes(file, sending)
  const offset = await appendBytes({
    ...{ address, headers, offset: begin, body, signal },
    onSent: (bytes) => onSent(begin + bytes),
  })
  // Success must move the offset, at most by the bytes sent.
  if (offset <= begin || offset > begin + body.size) throw new RequestFailure(null)
  return offset
}

/**
 * Browsers check a file's date only when they open it for a request, so overwriting it later would send a
 * mixture. The last bytes store the file: they are in memory, and all before them has arrived, when the date
 * is checked last.
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
