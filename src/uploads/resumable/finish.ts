import {
  assertSize,
  BlobRefused,
  type BlobStore,
  isLost,
  type ResumableWriter,
} from '../../blobs/blob-store.ts'
import type { Nodes } from '../../core/nodes/nodes.ts'
import { nodeExists } from '../../core/nodes/nodes.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts'
import { type ErrorCode, Refusal } from '../../domain/errors.ts'
import type { UploadId } from '../../domain/ids.ts'
import type { Alongside, FileCommit } from '../commit.ts'
import type { Contributions } from '../contributions.ts'
import type { ContentHashing } from '../hashing/content-hash.ts'
import type { Digest } from '../hashing/content-hash-messages.ts'
import { blobBytes, HashingWriter } from '../hashing-writer.ts'
import { HEAD_LENGTH } from '../incoming-content.ts'
import { uploadInterrupted } from '../refusals.ts'
import type { Reservations } from '../reservations.ts'
import {
  completePartial,
  endUpload,
  type UploadRow,
  unfinishedProcessing,
  uploadById,
} from '../uploads.rows.ts'
import { abandonUpload, type Concatenation, endPartial } from './concatenation.ts'
import type { AppendLease, AppendLeases } from './leases.ts'

const always = () => true
const MOST_FAILURES = 1000
/** Between tries of an upload whose processing keeps failing. */
const LONGEST_PAUSE = 5 * MINUTE
const STEP = 20

const uninterrupted = { isIdle: () => false, stop() {} }

export interface KnownBytes {
  readonly digest: Digest | null
  readonly head: Uint8Array | null
}

export class Finishing {
  readonly #parts
  #waiting: ReadonlySet<UploadId> = new Set()
  /** Ordered by time of the last failure. */
  readonly #failures = new Map<
    UploadId,
    { readonly error: unknown; readonly times: number; readonly until: number }
  >()

  constructor(parts: {
    readonly db: Database
    readonly blobs: BlobStore
    readonly health: StoreHealth
    readonly hashing: ContentHashing
    readonly leases: AppendLeases
    readonly concatenation: Concatenation
    readonly reservations: Reservations
    readonly commit: FileCommit
    readonly contributions: Contributions
    readonly nodes: Nodes
    readonly clock: Clock
    readonly waitsForSpace: (upload: UploadRow) => void
    readonly report: (error: unknown) => void
  }) {
    this.#parts = parts
  }

  /** Returns once bytes and row would survive a power cut. A Refusal is final and ends the upload. */
  finish(upload: UploadRow, lease: AppendLease, writer: ResumableWriter, known: KnownBytes): Promise<void> {
    return this.#orGiveUp(upload, lease, (whole) => this.#complete(whole, lease, writer, known))
  }

  /** Waits for processing on this node. After repeated failures pauses, throwing the last: a try may copy all bytes. */
  async resume(upload: UploadRow): Promise<void> {
    const { db, leases, nodes, clock } = this.#parts
    const { id, node } = upload
    if (leases.isRunning(id)) return leases.whenOver(id)
    if (node !== null && node !== nodes.id() && (await nodeExists(db, node))) return
    const before = this.#failures.get(id)
    if (before !== undefined && before.until > clock.monotonic()) throw before.error
    try {
      await leases.run(upload, uninterrupted, (lease) =>
        this.#orGiveUp(upload, lease, (whole) =>
          whole.kind === 'final' ? this.#finishFinal(whole, lease) : this.#finishWritten(whole, lease),
        ),
      )
      this.#failures.delete(id)
    } catch (error) {
      // A wait for disk space or another node has copied nothing.
      const hasTried = !(error instanceof NoSpaceYet || isPassing(error))
      if (hasTried) this.#noteFailure(id, error, before?.times ?? 0)
      throw error
    }
  }

  #noteFailure(id: UploadId, error: unknown, times: number): void {
    this.#failures.delete(id)
    const [oldest] = this.#failures.keys()
    if (this.#failures.size >= MOST_FAILURES && oldest !== undefined) this.#failures.delete(oldest)
    const pause = times === 0 ? 0 : Math.min(LONGEST_PAUSE, SECOND * 2 ** times)
    this.#failures.set(id, { error, times: times + 1, until: this.#parts.clock.monotonic() + pause })
  }

  async resumeAll(mayGoOn: () => boolean = always): Promise<void> {
    const { db, leases, nodes } = this.#parts
    const tried = new Set<UploadId>()
    const stillWaiting = new Set<UploadId>()
    while (mayGoOn()) {
      const uploads = await unfinishedProcessing(db, nodes.id(), STEP)
      const fresh = uploads.filter(({ id }) => !tried.has(id) && !leases.isRunning(id))
      if (fresh.length === 0) break
      for (const { id } of fresh) {
        tried.add(id)
        const upload = await uploadById(db, id)
        if (upload?.state !== 'processing' || !mayGoOn()) continue
        if (await this.#resumesOrWaits(upload)) stillWaiting.add(id)
      }
    }
    this.#waiting = stillWaiting
  }

  async #resumesOrWaits(upload: UploadRow): Promise<boolean> {
    const { waitsForSpace, report } = this.#parts
    try {
      await this.resume(upload)
      return false
    } catch (error) {
      if (error instanceof NoSpaceYet) {
        if (!this.#waiting.has(upload.id)) waitsForSpace(upload)
        return true
      }
      if (!isPassing(error)) report(error)
      return false
    }
  }

  /** Ends the upload when that can never succeed. */
  async #orGiveUp(
    upload: UploadRow,
    lease: AppendLease,
    work: (whole: WholeUpload) => Promise<void>,
  ): Promise<void> {
    const { db, health, clock, report } = this.#parts
    const { size } = upload
    if (size === null) throw new Error(`upload ${upload.id} is whole and has no size`)
    try {
      await work({ ...upload, size })
    } catch (error) {
      const failure = finalFailure(error)
      if (failure === null) throw health.refusalFor(error)
      // What a node that was taken for dead finds is what its successor has done.
      lease.assertHeld()
      reportLoss(upload, error, report)
      await abandonUpload(db, upload, failure.code, clock.now())
      throw failure
    }
  }

  async #complete(
    upload: WholeUpload,
    lease: AppendLease,
    writer: ResumableWriter,
    { digest, head }: KnownBytes,
  ): Promise<void> {
    const { db, health } = this.#parts
    lease.assertHeld()
    assertSize(upload.key, await writer.complete(), upload.size)
    health.assertUsable()
    if (upload.kind !== 'partial') {
      await this.#commit(upload, lease, {
        digest: digest ?? (await this.#readBack(upload, lease)),
        head: head ?? (await this.#head(upload)),
      })
      return
    }
    if (!(await completePartial(db, upload.id, lease.number, upload.size))) throw uploadInterrupted()
    lease.markReleased()
  }

  async #finishWritten(upload: WholeUpload, lease: AppendLease): Promise<void> {
    const { blobs } = this.#parts
    const { key, progress, received } = upload
    if (progress === null) await blobs.remove(key)
    const kept = progress === null ? null : { offset: received, progress }
    const writer = await blobs.resume(key, kept, upload.size)
    try {
      await this.#complete(upload, lease, writer, { digest: null, head: null })
    } finally {
      await writer.close()
    }
  }

  async #finishFinal(upload: WholeUpload, lease: AppendLease): Promise<void> {
    const { concatenation, reservations, report } = this.#parts
    // The parts have a reservation; while they are copied the disk has to hold both.
    let hasSpace = false
    const concatenate = (wrote: (bytes: number) => void) => {
      hasSpace = true
      return concatenation.concatenate(upload, lease, wrote)
    }
    const { key, digest } = await reservations
      .withFreeSpace(upload.account_id, upload.size, concatenate)
      .catch((error: unknown) => {
        throw error instanceof Refusal && !hasSpace ? new NoSpaceYet(error) : error
      })
    try {
      const joined = { ...upload, key }
      await this.#commit(joined, lease, { digest, head: await this.#head(joined) })
    } catch (error) {
      await concatenation.discard(upload, key).catch(report)
      throw error
    }
  }

  async #commit(
    upload: WholeUpload,
    lease: AppendLease,
    { digest, head }: { readonly digest: Digest; readonly head: Uint8Array },
  ): Promise<void> {
    const { commit, contributions, clock } = this.#parts
    const { account_id: account, address, folder_id: folder, key, size, name } = upload
    const { declared_type: declaredType } = upload
    const link = { uuid: upload.uuid, slug: upload.slug }
    lease.assertHeld()
    const complete = {
      account,
      address,
      folder,
      key,
      digest,
      size,
      head,
      name,
      declaredType,
      link,
      // Its row of `uploads` has them.
      reserved: { hasRow: false, isCounted: true },
    }
    const alongside: Alongside = async (trx, file) => {
      if (upload.link_id !== null) {
        await contributions.arrived(trx, { link: upload.link_id, account }, { id: file.id, name, size }, null)
      }
      const now = clock.now()
      const end = { ended_at: now, state: 'completed', file_id: file.id, received: size } as const
      if ((await endUpload(trx, upload, end, { lease: lease.number })) === null) throw uploadInterrupted()
      if (upload.kind === 'final') await endPartial(trx, upload, { ended_at: now, state: 'completed' })
    }
    await commit.commit(complete, { alongside, isAlone: true })
    lease.markReleased()
  }

  async #readBack(upload: WholeUpload, lease: AppendLease): Promise<Digest> {
    const { blobs, hashing } = this.#parts
    const hash = hashing.start()
    const writer = new HashingWriter({ hashing, hash, store: async () => {}, from: 0 })
    try {
      for await (const chunk of blobBytes(blobs, upload.key, upload.size)) {
        lease.assertHeld()
        await writer.write(chunk)
      }
      return await writer.end()
    } finally {
      await writer.rest()
      hash.drop()
    }
  }

  async #head(upload: WholeUpload): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    const length = Math.min(upload.size, HEAD_LENGTH)
    for await (const piece of blobBytes(this.#parts.blobs, upload.key, upload.size, length))
      pieces.push(Buffer.from(piece))
    return Buffer.concat(pieces)
  }
}

/** The disk has no space for the concatenation now; nothing has failed. */
class NoSpaceYet extends Refusal {
  constructor(cause: Refusal) {
    super(cause.code, cause.message, cause.retryAfter, { cause })
  }
}

type WholeUpload = UploadRow & { readonly size: number }

// Not FOLDER_NOT_FOUND: a folder in the bin may be restored before the upload expires.
const FINAL: readonly ErrorCode[] = ['LINK_NOT_FOUND', 'LINK_USED_UP', 'CONTENT_REFUSED']

/** Another writer works on the upload, or its folder was deleted meanwhile. */
const PASSING: readonly ErrorCode[] = ['UPLOAD_LOCKED', 'FOLDER_NOT_FOUND']

function isPassing(error: unknown): boolean {
  return error instanceof Refusal && PASSING.includes(error.code)
}

/** The refusal for an upload that no retry can finish; null for transient failures. */
function finalFailure(error: unknown): Refusal | null {
  if (isLost(error) || error instanceof BlobRefused) return bytesLost(error)
  return error instanceof Refusal && FINAL.includes(error.code) ? error : null
}

export function bytesLost(cause: unknown): Refusal {
  const message =
    cause instanceof BlobRefused
      ? 'The storage of this server refused what was sent of this upload; whoever runs the server finds the reason in its log'
      : 'What was sent of this upload is lost; start it again'
  return new Refusal('UPLOAD_GONE', message, undefined, { cause })
}

export function reportLoss(
  { slug }: Pick<UploadRow, 'slug'>,
  error: unknown,
  report: (error: unknown) => void,
): void {
  if (isLost(error)) report(new Error(`the bytes of upload ${slug} are lost`, { cause: error }))
  if (error instanceof BlobRefused) {
    report(new Error(`the store refused the bytes of upload ${slug} for good`, { cause: error }))
  }
}
