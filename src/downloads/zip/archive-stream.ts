import { ArchiveFiller, type ArchiveSource } from './archive-filler.ts'
import type { ZipSegment } from './zip-layout.ts'

/** Bytes of a chunk for readers who bring no memory of their own. */
const CHUNK = 256 * 1024

/**
 * The segments as one stream of bytes. They are read straight into the memory that the reader brings, so that one who
 * brings the same again makes no garbage, and no further than it goes. It fails when a content is not as long as the
 * layout says, and lets go of everything as soon as it is cancelled.
 */
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
