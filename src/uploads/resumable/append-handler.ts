import { BlobRefused, type BlobStore, isLost, type ResumableWriter } from '../../blobs/blob-store.ts'
import { repeat } from '../../domain/clock.ts'
import type { Refusal } from '../../domain/errors.ts'
import type { UploadRow } from '../uploads.rows.ts'
import { leaseState } from './append-leases.rows.ts'
import { type AppendLease, locked } from './append-leases.ts'
import {
  type AppendRequest,
  AppendStream,
  type AppendStreamParts,
  type ByteSource,
  QUIET_AFTER,
} from './append-stream.ts'
import { bytesLost, reportLoss } from './finishing.ts'
import { abandonUpload } from './upload-endings.ts'

export interface AppendHandlerParts extends AppendStreamParts {
  readonly blobs: BlobStore
  readonly isShared: boolean
  readonly report: (error: unknown) => void
}

export class AppendHandler {
  readonly #parts: AppendHandlerParts

  constructor(parts: AppendHandlerParts) {
    this.#parts = parts
  }

  /** See `AppendStream`. Throws Refusal UPLOAD_GONE when kept bytes are lost. */
  async receive(upload: UploadRow, lease: AppendLease, request: AppendRequest): Promise<void> {
    this.#parts.health.assertUsable()
    const writer = await this.#open(upload)
    const stream = new AppendStream(this.#parts, upload, lease, writer, request)
    const stopWatching = this.#watch(lease, request.source, stream)
    try {
      await stream.run()
    } catch (error) {
      throw error instanceof BlobRefused ? await this.#giveUp(upload, error) : error
    } finally {
      stopWatching()
      await writer.close()
    }
  }

  async #open(upload: UploadRow): Promise<ResumableWriter> {
    const { blobs, health } = this.#parts
    const { key, progress, received } = upload
    try {
      // An earlier lease may have written without recording anything.
      if (progress === null && upload.sitting > 0) await blobs.remove(key)
      return await blobs.resume(key, progress === null ? null : { offset: received, progress }, upload.size)
    } catch (error) {
      if (!isLost(error)) throw health.refusalFor(error)
      throw await this.#giveUp(upload, error)
    }
  }

  async #giveUp(upload: UploadRow, error: unknown): Promise<Refusal> {
    const { db, clock, report } = this.#parts
    reportLoss(upload, error, report)
    await abandonUpload(db, upload, 'UPLOAD_GONE', clock.now())
    return bytesLost(error)
  }

  /** Ends a quiet source when another node wants the lease; notifies the stream of followers. */
  #watch({ upload, number }: AppendLease, source: ByteSource, stream: AppendStream): () => void {
    const { db, blobs, isShared, clock, report } = this.#parts
    if (!isShared && blobs.readsGrowing) return () => {}
    const look = async () => {
      if (source.quietFor() < QUIET_AFTER) return
      const { isPresent, isRequested, isFollowed } = await leaseState(db, upload, number)
      if (!isPresent || isRequested) source.end(locked())
      else if (isFollowed) stream.follow()
    }
    return repeat(clock.timers, QUIET_AFTER / 2, () => look().catch(report))
  }
}
