/** Captures a process's output in a file instead of a pipe. */
import { closeSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * An unlinked file for a process's output. A pipe is unreliable: in Bun 1.4.5 one occasionally delivers
 * nothing more, not even its end, so that the reader hangs.
 */
export interface OutputFile {
  /** File descriptor for the process. */
  readonly descriptor: number
  /** All output so far, or the last `kept` characters of it. */
  text(): string
  /** Keeps the present text and closes the file. */
  close(): void
}

export function outputFile(kept = Number.POSITIVE_INFINITY): OutputFile {
  const path = join(tmpdir(), `holdfast-test-${crypto.randomUUID()}`)
  const descriptor = openSync(path, 'ax+', 0o600)
  rmSync(path)
  const decoder = new TextDecoder()
  const piece = new Uint8Array(64 * 1024)
  let text = ''
  let read = 0
  let isClosed = false

  function take(): string {
    while (!isClosed) {
      const length = readSync(descriptor, piece, 0, piece.length, read)
      if (length === 0) break
      read += length
      text += decoder.decode(piece.subarray(0, length), { stream: true })
      if (text.length > kept) text = text.slice(-kept)
    }
    return text
  }

  return {
    descriptor,
    text: take,
    close() {
      take()
      isClosed = true
      closeSync(descriptor)
    },
  }
}
