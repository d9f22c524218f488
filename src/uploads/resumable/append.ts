import {
  BlobRefused,
  type BlobStore,
  isLost,
  type KeptBlob,
  type ResumableWriter,
} from '../../blobs/blob-store.ts'
import type { Caller } from '../../core/callers.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, repeat, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { assertInvariant } from '../../domain/invariants.ts'
import {
  type ContentHash,
  type ContentHashing,
  type RunningHashes,
  unhashed,
} from '../hashing/content-hash.ts'
import type { Digest } from '../hashing/content-hash-messages.ts'
import { HashingWriter } from '../hashing-writer.ts'
import { FileHead } from '../incoming-content.ts'
import { assertFileSize } from '../refusals.ts'
import type { Reservation } from '../reservations.ts'
import { leaseState, recordProgress, type UploadRow } from '../uploads.rows.ts'
import { abandonUpload } from './concatenation.ts'
import type { UploadReservations } from './creation.ts'
import { bytesLost, type Finishing, reportLoss } from './finish.ts'
import { type AppendLease, locked } from './leases.ts'

import type { ExpectedChecksum } from './tus-headers.ts'

interface AppendParts {
  readonly db: Database
  readonly health: StoreHealth
  readonly hashing: ContentHashing
  readonly hashes: RunningHashes
  readonly finishing: Finishing
  readonly reservations: UploadReservations
  readonly clock: Clock
  readonly maxFileSize: number
  readonly blobs: BlobStore
  readonly isShared: boolean
  readonly report: (error: unknown) => void
}

export class AppendHandler {
  readonly #parts: AppendParts

  constructor(parts: AppendParts) {
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
      if (!(error instanceof BlobRefused)) throw error
      // A node that was taken for dead is refused what its successor has removed or completed.
      lease.assertHeld()
      throw await this.#giveUp(upload, error)
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

/** Interval of recording durable bytes: each record waits for the disk. */
const RECORD_EVERY = SECOND
/** Interval for a slow client, whose bytes do not become durable otherwise. */
const KEEP_EVERY = 5 * SECOND
/** After this silence received bytes are kept, and another request may take over. */
export const QUIET_AFTER = SECOND

/** One-request uploads up to so many bytes are completed without `keep`. */
const AT_ONCE = 16 * 1024 * 1024

interface BrokenOff {
  readonly reason: unknown
}

class AppendStream {
  readonly #parts: AppendParts
  readonly #upload: UploadRow
  readonly #lease: AppendLease
  readonly #writer: ResumableWriter
  readonly #request: AppendRequest
  readonly #sum: ChunkChecksum | null
  /** Set while this process has seen all bytes. */
  #hash: ContentHash | null
  readonly #head: FileHead | null
  readonly #hashingWriter: HashingWriter<Digest | null>
  readonly #reservation: Reservation
  /** Whether a reader waits for new bytes, and whether they are readable. */
  #isFollowed: boolean
  #isReadable = false
  #received: number
  #recorded: number
  #recordedAt: number
  #lookedAt: number
  /** Pending `keep` while the client is quiet. */
  #keeping: Promise<void> | null = null

  constructor(
    parts: AppendParts,
    upload: UploadRow,
    lease: AppendLease,
    writer: ResumableWriter,
    request: AppendRequest,
  ) {
    this.#parts = parts
    this.#upload = upload
    this.#lease = lease
    this.#writer = writer
    this.#request = request
    this.#sum = request.checksum === null ? null : startChecksum(request.checksum)
    // The hash of a partial upload is unused: the whole is hashed at concatenation.
    this.#hash = upload.kind === 'partial' ? null : parts.hashes.take(upload.id, upload.received)
    this.#head = upload.received === 0 ? new FileHead() : null
    this.#hashingWriter = new HashingWriter<Digest | null>({
      hashing: parts.hashing,
      hash: this.#hash ?? unhashed,
      store: (bytes) => this.#store(bytes),
      from: upload.received,
    })
    this.#reservation = parts.reservations.of(request.caller, upload)
    this.#isFollowed = upload.is_followed === 1
    this.#received = upload.received
    this.#recorded = upload.received
    this.#recordedAt = parts.clock.monotonic()
    this.#lookedAt = this.#recordedAt
  }

  /** Bytes before a failure of the source are kept, unless a checksum covers them. Throws that failure. */
  async run(): Promise<void> {
    const stopLooking = repeat(this.#parts.clock.timers, QUIET_AFTER, () => this.#keepWhileQuiet())
    try {
      await this.#makeReadable()
      const broken = await this.#takeIn()
      stopLooking()
      await this.#keeping
      await this.#conclude(broken)
    } finally {
      stopLooking()
      await this.#hashingWriter.stored()
      // The answer does not wait for remaining hashing.
      void this.#hashingWriter.rest()
      this.#hash?.drop()
    }
  }

  follow(): void {
    this.#isFollowed = true
    const isQuiet = this.#request.source.quietFor() >= QUIET_AFTER
    const mayShow = this.#sum === null && this.#received !== this.#upload.size
    if (isQuiet && mayShow && this.#keeping === null) this.#whileQuiet(this.#makeReadable())
  }

  async #takeIn(): Promise<BrokenOff | null> {
    for (;;) {
      let chunk: Uint8Array
      try {
        const { done, value } = await this.#request.source.read()
        if (done || value === undefined) return null
        chunk = value
        this.#assertFits(chunk)
        await this.#reservation.cover(this.#received + chunk.byteLength)
      } catch (reason) {
        return { reason }
      }
      await this.#keeping
      await this.#write(chunk)
      await this.#recordOnTheWay()
    }
  }

  #assertFits(chunk: Uint8Array): void {
    const { size } = this.#upload
    const received = this.#received + chunk.byteLength
    if (size === null) assertFileSize(received, this.#parts.maxFileSize)
    else if (received > size) {
      throw new Refusal(
        'PAYLOAD_TOO_LARGE',
        `The upload was announced with ${size} bytes, but more were sent`,
      )
    }
  }

  async #write(chunk: Uint8Array): Promise<void> {
    this.#sum?.update(chunk)
    this.#head?.take(chunk)
    await this.#hashingWriter.write(chunk)
    this.#received += chunk.byteLength
  }

  #store(bytes: Uint8Array): Promise<void> {
    this.#lease.assertHeld()
    return this.#storing(() => this.#writer.write(bytes))
  }

  async #kept(): Promise<KeptBlob> {
    await this.#hashingWriter.flush()
    const kept = await this.#storing(() => this.#writer.keep())
    const received = this.#received
    assertInvariant('offset-is-sum-of-appends', kept.offset === received, () => `${kept.offset}, ${received}`)
    return kept
  }

  async #storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      // A final refusal by the store ends the upload.
      throw error instanceof BlobRefused ? error : this.#parts.health.refusalFor(error)
    }
  }

  /** No checksum can void the bytes, and more are to come. */
  #mayRecord(): boolean {
    return this.#sum === null && this.#received > this.#recorded && this.#received !== this.#upload.size
  }

  #keepWhileQuiet(): void {
    const isQuiet = this.#request.source.quietFor() >= QUIET_AFTER
    if (!isQuiet || this.#keeping !== null || !this.#mayRecord()) return
    this.#whileQuiet(this.#keepAtRest())
  }

  #whileQuiet(keeping: Promise<void>): void {
    this.#keeping = keeping
    const done = () => {
      this.#keeping = null
    }
    // The next writer gets the failure.
    keeping.then(done, () => {})
  }

  async #keepAtRest(): Promise<void> {
    const kept = await this.#kept()
    await this.#hashingWriter.rest()
    await this.#record(kept)
    await this.#makeReadable()
  }

  async #makeReadable(): Promise<void> {
    if (!this.#isFollowed || this.#isReadable) return
    if (this.#received > this.#recorded) await this.#record(await this.#kept())
    this.#lease.assertHeld()
    await this.#storing(() => this.#writer.makeReadable())
    this.#isReadable = true
  }

  async #recordOnTheWay(): Promise<void> {
    if (!this.#mayRecord()) return
    const now = this.#parts.clock.monotonic()
    if (now - this.#lookedAt < RECORD_EVERY) return
    this.#lookedAt = now
    const isOverdue = now - this.#recordedAt >= KEEP_EVERY
    await this.#hashingWriter.flush()
    const safe = this.#writer.safe() ?? (isOverdue ? await this.#kept() : null)
    if (safe !== null) await this.#record(safe)
    await this.#makeReadable()
  }

  async #record(
    { offset: received, progress }: KeptBlob,
    change: { state?: 'processing'; node?: null } = {},
  ): Promise<void> {
    const { db, clock } = this.#parts
    assertInvariant(
      'offset-is-sum-of-appends',
      this.#recorded <= received && received <= this.#received,
      () => `${received} to be recorded after ${this.#recorded}, ${this.#received} received`,
    )
    this.#lease.assertHeld()
    const { upload, number } = this.#lease
    const row = { received, progress, used_at: clock.now(), ...change }
    const recorded = await recordProgress(db, upload, number, row)
    if (recorded === null) throw locked()
    this.#isFollowed ||= recorded.isFollowed
    this.#recorded = received
    this.#recordedAt = clock.monotonic()
  }

  async #conclude(broken: BrokenOff | null): Promise<void> {
    if (this.#sum !== null) {
      if (broken !== null) throw broken.reason
      if (!this.#sum.matches()) {
        throw new Refusal('CHECKSUM_MISMATCH', 'The bytes do not match their checksum; send them again')
      }
    }
    // More bytes than declared put the content in doubt: it does not become the file.
    if (this.#received === this.#upload.size && !isTooLarge(broken)) return this.#finish()
    await this.#keep()
    if (broken !== null) throw broken.reason
  }

  async #keep(): Promise<void> {
    if (this.#received === this.#upload.size) return
    if (this.#received > this.#upload.received) {
      await this.#record(await this.#kept(), { node: null })
      this.#lease.markReleased()
    }
    if (this.#hash !== null) this.#parts.hashes.leave(this.#upload.id, this.#received, this.#hash)
    this.#hash = null
  }

  async #finish(): Promise<void> {
    const digest = await this.#hashingWriter.end()
    const isInOnePiece = this.#upload.progress === null && this.#recorded === 0
    if (!isInOnePiece || this.#received > AT_ONCE) {
      await this.#record(await this.#kept(), { state: 'processing' })
    }
    const upload = { ...this.#upload, received: this.#received }
    const head = this.#head?.bytes() ?? null
    await this.#parts.finishing.finish(upload, this.#lease, this.#writer, { digest, head })
  }
}

function isTooLarge(broken: BrokenOff | null): boolean {
  return broken?.reason instanceof Refusal && broken.reason.code === 'PAYLOAD_TOO_LARGE'
}

export interface ByteSource {
  /** A chunk is valid until the next read. Rejects for a gone or slow client, and with the reason of `end`. */
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  /** Milliseconds that the pending read has waited; 0 without one. */
  quietFor(): number
  end(reason: Refusal): void
}

export interface AppendRequest {
  readonly caller: Caller
  readonly source: ByteSource
  readonly checksum: ExpectedChecksum | null
}

export interface ChunkChecksum {
  update(bytes: Uint8Array): void
  /** Call once, at the end. */
  matches(): boolean
}

export function startChecksum({ algorithm, digest }: ExpectedChecksum): ChunkChecksum {
  if (algorithm === 'crc32c') {
    let sum = 0
    return {
      update(bytes) {
        sum = crc32c(bytes, sum)
      },
      matches() {
        const bytes = Buffer.alloc(4)
        bytes.writeUInt32BE(sum)
        return bytes.equals(digest)
      },
    }
  }
  const hasher = new Bun.CryptoHasher(algorithm)
  return {
    update(bytes) {
      hasher.update(bytes)
    },
    matches: () => hasher.digest().equals(digest),
  }
}

/** CRC-32C (Castagnoli), reversed, RFC 3720. */
const POLYNOMIAL = 0x82f63b78

/** For the last byte; the other tables are for bytes followed by one, two or three more. */
const last = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1
  return rest >>> 0
})
const third = oneByteOn(last)
const second = oneByteOn(third)
const first = oneByteOn(second)

function oneByteOn(table: Uint32Array): Uint32Array {
  return table.map((rest) => (rest >>> 8) ^ (last[rest & 0xff] ?? 0))
}

export function crc32c(bytes: Uint8Array, before = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let rest = ~before
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    const word = rest ^ view.getInt32(at, true)
    rest =
      (first[word & 0xff] ?? 0) ^
      (second[(word >>> 8) & 0xff] ?? 0) ^
      (third[(word >>> 16) & 0xff] ?? 0) ^
      (last[word >>> 24] ?? 0)
  }
  for (; at < bytes.length; at++) rest = (rest >>> 8) ^ (last[(rest ^ view.getUint8(at)) & 0xff] ?? 0)
  return ~rest >>> 0
}
