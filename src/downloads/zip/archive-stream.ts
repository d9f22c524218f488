import { ArchiveFiller, type ArchiveSource } from './archive-filler.ts'
import type { ZipSegment } from './zip-layout.ts'

/** Bytes, for readers without a buffer. */
const CHUNK = 256 * 1024

/** Read straight into the reader's buffer, never ahead. Fails when a content has not the planned length. */
export function archiveStream(
  segments: Generator<ZipSegment>,
  source: ArchiveSource,
): ReadableStream<Uint8Array> {
  const filler = new ArchiveFiller(segments, source)
  const fail = (error: unknown) => {
    if (filler.isCancelled()) return
    filler.cancel()
    source.over()
    source.failed(error)
  }
  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: CHUNK,
    start(controller) {
      const end = () => {
        fail(source.ended.reason)
        controller.error(source.ended.reason)
      }
      source.ended.addEventListener('abort', end, { once: true })
    },
    async pull(controller) {
      const request = controller.byobRequest
      const view = request?.view
      if (!request || !view)
        throw new Error('a stream that allocates was asked for bytes without memory for them')
      try {
        const filled = await filler.fill(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
        if (filler.isCancelled()) return
        source.sent(filled)
        if (filled === 0) {
          controller.close()
          source.over()
        }
        request.respond(filled)
      } catch (error) {
        if (filler.isCancelled()) return
        fail(error)
        throw error
      }
    },
    cancel() {
      filler.cancel()
      source.over()
    },
  })
}
