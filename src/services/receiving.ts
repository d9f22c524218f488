import { BlobMissing, type BlobStore, type ResumableWriter } from '../blobs/blob-store.ts'
import { lookAtSitting } from '../database/upload-sittings.ts'
import type { UploadRow } from '../database/uploads.ts'
import { bytesLost } from './finishing.ts'
import { type Arrival, type ByteSource, QUIET_AFTER, Reception, type ReceptionParts } from './reception.ts'
import { locked, type Sitting } from './sittings.ts'
import { giveUp } from './upload-endings.ts'

/** Takes bytes in, a sitting at a time. */
export interface Receiving {
  /** Adds what comes to the upload: see `Reception`. Throws Refusal UPLOAD_GONE when what was kept is lost. */
  receive(upload: UploadRow, sitting: Sitting, arrival: Arrival): Promise<void>
}

export function createReceiving(
  parts: ReceptionParts & {
    readonly blobs: BlobStore
    /** Whether somebody on another node may ask for the turn. */
    readonly isShared: boolean
    readonly report: (error: unknown) => void
  },
): Receiving {
  const { db, blobs, health, clock, isShared, report } = parts

  async function open(upload: UploadRow): Promise<ResumableWriter> {
    const { key, progress, received } = upload
    try {
      // Of what an earlier sitting may have written nothing was recorded.
      if (progress === null && upload.sitting > 0) await blobs.remove(key)
      return await blobs.resume(key, progress === null ? null : { offset: received, progress })
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw health.refusalFor(error)
      await giveUp(db, upload, 'UPLOAD_GONE', clock.now())
      throw bytesLost(error)
    }
  }

  /** Ends a quiet source when somebody on another node waits for that, or has taken the upload over. */
  function watch({ upload, number }: Sitting, source: ByteSource): () => void {
    if (!isShared) return () => {}
    const look = async () => {
      if (source.quietFor() < QUIET_AFTER) return
      const { isPresent, isAsked } = await lookAtSitting(db, upload, number)
      if (!isPresent || isAsked) source.end(locked())
    }
    const timer = setInterval(() => look().catch(report), QUIET_AFTER / 2)
    return () => clearInterval(timer)
  }

  return {
    async receive(upload, sitting, arrival) {
      health.assertUsable()
      const writer = await open(upload)
      const stopWatching = watch(sitting, arrival.source)
      try {
        await new Reception(parts, upload, sitting, writer, arrival).run()
      } finally {
        stopWatching()
        await writer.close()
      }
    },
  }
}
