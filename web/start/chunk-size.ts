import type { UploadOptions } from 'tus-js-client'

const MIB = 1024 ** 2
const FIRST = 64 * MIB
const SMALLEST = MIB / 4

/** So long a smaller size is kept; the line may be better then, and the proxy told otherwise. */
const KEPT = 24 * 60 * 60 * 1000
const KEY = 'holdfast-chunk'

/** How much is sent in one request: as much as whatever stands before the server lets through. */
export interface ChunkSize {
  current(): number
  /** A body of so many bytes did not get through; false when less is no use. */
  refused(bytes: number): boolean
}

/** What is learned is kept for this server. Storage that is closed to us costs a few refusals more, nothing else. */
export function createChunkSize(storage: Storage | null, now: () => number): ChunkSize {
  let size = kept(storage, now()) ?? FIRST
  return {
    current: () => size,
    refused(bytes) {
      const smaller = Math.max(SMALLEST, Math.floor(bytes / 2))
      if (smaller >= bytes) return false
      if (smaller < size) {
        size = smaller
        keep(storage, { bytes: size, until: now() + KEPT })
      }
      return true
    },
  }
}

function kept(storage: Storage | null, now: number): number | null {
  try {
    const parsed: unknown = JSON.parse(storage?.getItem(KEY) ?? 'null')
    if (typeof parsed !== 'object' || parsed === null || !('bytes' in parsed) || !('until' in parsed))
      return null
    const { bytes, until } = parsed
    if (typeof bytes !== 'number' || typeof until !== 'number' || until < now) return null
    return Math.min(FIRST, Math.max(SMALLEST, bytes))
  } catch {
    return null
  }
}

function keep(storage: Storage | null, value: { readonly bytes: number; readonly until: number }): void {
  try {
    storage?.setItem(KEY, JSON.stringify(value))
  } catch {
    // It is learned again.
  }
}

/**
 * Hands a file to tus-js-client in pieces of the present size. Its own chunkSize is fixed for an upload, which goes on
 * from the offset that the server answers, whatever was sent: so the size can change between any two requests.
 */
export function chunkedReader(chunks: ChunkSize): NonNullable<UploadOptions['fileReader']> {
  return {
    async openFile(file: Blob) {
      return {
        size: file.size,
        async slice(start: number, end: number) {
          const until = Math.min(end, start + chunks.current(), file.size)
          return { value: file.slice(start, until), done: until >= file.size }
        },
        close() {},
      }
    },
  }
}
