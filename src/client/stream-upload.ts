import type { Uploaded } from './answers.ts'
import type { ChunkSize } from './chunk-size.ts'
import { ClientError } from './failure.ts'
import type { RemoteServer } from './http.ts'
import { TRANSFER } from './policy/upload-policy.ts'
import { sendChunk, untilStored } from './resumable-upload.ts'
import type { Retries } from './retries.ts'
import { createRemoteUpload, terminateUpload, uploadOffset } from './tus.ts'
import type { WatchedTransfer } from './upload-job.ts'
import type { UploadPlace } from './upload-place.ts'

export interface StreamUpload {
  readonly server: RemoteServer
  readonly retries: Retries
  readonly chunkSize: ChunkSize
  readonly transfer: WatchedTransfer
  readonly name: string
  readonly place: UploadPlace
}

/** Bytes held for retries, which bounds a stream's memory. */
const LARGEST_HELD = 8 * 1024 * 1024

/** Of unknown length, readable once. Survives a broken connection, not the end of the process. */
export async function uploadStream(
  source: AsyncIterable<Uint8Array>,
  { server, retries, chunkSize, transfer, name, place }: StreamUpload,
): Promise<Uploaded> {
  const hash = new Bun.CryptoHasher('sha256')
  const create = () => createRemoteUpload(server, { name, size: null, place })
  const upload = await retries.persist(TRANSFER, create)
  try {
    let base = 0
    for await (const { bytes, isLast } of inChunks(source, LARGEST_HELD)) {
      hash.update(bytes)
      const size = isLast ? base + bytes.length : null
      await sendHeld({ base, bytes, size })
      base += bytes.length
    }
    const result = await untilStored(server, upload, retries)
    if (result.sha256 === hash.digest('hex')) return result
    throw new ClientError(`what arrived as ${result.url} is not what was sent: it has another SHA-256.`)
  } catch (error) {
    // If the server cannot be reached, the upload expires.
    await terminateUpload(server, upload.path).catch(() => {})
    throw error
  }

  async function sendHeld(held: Held): Promise<void> {
    const end = held.base + held.bytes.length
    let offset = held.base
    let failed = false
    /** An empty end still has to declare the size. */
    let isTold = held.size === null
    await retries.persist(
      TRANSFER,
      async () => {
        if (failed) offset = await keptOffset(held)
        failed = true
        while (offset < end || !isTold) {
          const length = Math.min(chunkSize.current(), end - offset)
          const reachesEnd = offset + length === end
          const body = held.bytes.subarray(offset - held.base, offset - held.base + length)
          const sized = held.size !== null && reachesEnd ? { size: held.size } : {}
          offset = await sendChunk(
            server,
            upload.path,
            { offset, length, body: () => body, ...sized },
            chunkSize,
          )
          isTold ||= reachesEnd && offset === end
          transfer.at(offset)
        }
      },
      () => offset,
    )
  }

  async function keptOffset({ base }: Held): Promise<number> {
    const kept = await uploadOffset(server, upload.path)
    if (kept !== null && kept >= base) return kept
    throw new ClientError('the server has lost what it had of the upload; run the command again')
  }
}

interface Held {
  readonly base: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly size: number | null
}

async function* inChunks(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly isLast: boolean }> {
  let chunk = new Uint8Array(size)
  let filled = 0
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      // Only later bytes show that a full chunk is not the last.
      if (filled === size) {
        yield { bytes: chunk, isLast: false }
        chunk = new Uint8Array(size)
        filled = 0
      }
      const part = piece.subarray(at, at + size - filled)
      chunk.set(part, filled)
      filled += part.length
      at += part.length
    }
  }
  yield { bytes: chunk.subarray(0, filled), isLast: true }
}
