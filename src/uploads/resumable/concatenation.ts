/**
 * Final uploads and their partial ones: waiting for bytes (`concatenation-unfinished`), claiming, concatenating, and ending
 * together.
 */
import { assertSize, type BlobStore } from '../../blobs/blob-store.ts'
import { blobExists, discardBlob, GARBAGE_GRACE } from '../../core/blobs.rows.ts'
import { hashToken } from '../../core/hmac.ts'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BlobKey, LinkId } from '../../domain/ids.ts'
import { makeBlobKey, type Random } from '../../domain/random.ts'
import { openUploadsOfLink } from '../contributions.rows.ts'
import type { ContentHashing } from '../hashing/content-hash.ts'
import type { Digest } from '../hashing/content-hash-messages.ts'
import { blobBytes, HashingWriter } from '../hashing-writer.ts'
import { uploadInterrupted } from '../refusals.ts'
import {
  beginProcessing,
  changeKey,
  dropUpload,
  endUpload,
  joinPartialUpload,
  noteUse,
  partialOf,
  type UploadEnd,
  type UploadRow,
  uploadById,
  uploadsByToken,
} from '../uploads.rows.ts'
import type { AppendLease } from './leases.ts'
import { parseConcat } from './tus-headers.ts'

/** A final upload without a recorded size was about to claim its parts when its node died. */
export function awaitsPartial({ kind, state, size }: Pick<UploadRow, 'kind' | 'state' | 'size'>): boolean {
  return kind === 'final' && state === 'uploading' && size !== null
}

/** In order; null when one is gone, failed, or claimed by another upload. */
export async function awaitedPartial(db: Queryable, final: UploadRow): Promise<UploadRow[] | null> {
  const { named, rows } = await namedPartial(db, final)
  const parts = named.flatMap((hash) => rows.get(hash) ?? [])
  const isOpen = ({ ended_at, joined_into }: UploadRow) => ended_at === null && joined_into === null
  return parts.length === named.length && parts.every(isOpen) ? parts : null
}

export async function partialLeft(db: Queryable, final: UploadRow): Promise<UploadRow[]> {
  return [...(await namedPartial(db, final)).rows.values()]
}

/** Adds the bytes of awaited parts, and the time of the last. */
export async function withPartialReceived(db: Queryable, upload: UploadRow): Promise<UploadRow> {
  if (!awaitsPartial(upload)) return upload
  const parts = await partialLeft(db, upload)
  return {
    ...upload,
    received: parts.reduce((sum, { received }) => sum + received, 0),
    used_at: parts.reduce((latest, { used_at }) => Math.max(latest, used_at), upload.used_at),
  }
}

/** Far less than the shortest expiry of an upload. */
const NOTED_EVERY = 10 * MINUTE

/** A byte to one part keeps all from expiring: on a slow line the last may wait for days. Returns the parts. */
export async function keepPartialInUse(db: Database, final: UploadRow): Promise<UploadRow[]> {
  const parts = await partialLeft(db, final)
  const latest = Math.max(...parts.map(({ used_at }) => used_at))
  const behind = parts.filter(({ used_at }) => used_at < latest - NOTED_EVERY)
  await noteUse(
    db,
    behind.map(({ id }) => id),
    latest,
  )
  return parts
}

async function namedPartial(db: Queryable, { concat }: UploadRow) {
  const parsed = parseConcat(concat)
  const named = parsed?.kind === 'final' ? parsed.parts.map(hashToken) : []
  const rows = await uploadsByToken(db, named)
  return { named, rows: new Map(rows.map((row) => [row.token_hash, row])) }
}

export function sizeOfPartial(parts: readonly UploadRow[]): number {
  if (parts.length === 0) throw new Refusal('INVALID_REQUEST', 'A final upload is made of at least one part')
  if (new Set(parts.map(({ id }) => id)).size < parts.length) {
    throw new Refusal('INVALID_REQUEST', 'A part may be named only once')
  }
  for (const part of parts) {
    if (part.kind !== 'partial') throw new Refusal('INVALID_REQUEST', 'Only partial uploads can be joined')
    if (part.size === null || part.ended_at !== null || part.joined_into !== null) throw notWhole()
  }
  return parts.reduce((sum, part) => sum + (part.size ?? 0), 0)
}

export function areWhole(parts: readonly UploadRow[]): boolean {
  return parts.every(({ state }) => state === 'completed')
}

/** Passes on their reservations, and begins processing. Throws Refusal OFFSET_CONFLICT for a claimed part. */
export async function joinPartial(
  db: Database,
  final: UploadRow,
  parts: readonly UploadRow[],
  size: number,
): Promise<UploadRow> {
  try {
    return await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      // A concurrent repetition of the request may have claimed them for this row, or deleted it.
      if ((await uploadById(trx, final.id))?.state !== 'uploading') throw notWhole()
      for (const [position, part] of parts.entries()) {
        if (!(await joinPartialUpload(trx, part, final, position))) throw notWhole()
      }
      const usedAt = Math.max(final.used_at, ...parts.map(({ used_at }) => used_at))
      await beginProcessing(trx, final.id, size, usedAt)
      return (await uploadById(trx, final.id)) ?? final
    })
  } catch (error) {
    // A claim whose answer was lost may have committed. One that waited for its parts can claim them later.
    if (!awaitsPartial(final)) await deleteUnjoined(db, final)
    throw error
  }
}

/** Throws Refusal UPLOAD_GONE, and ends the upload, when parts will never come. */
export async function joinedIfWhole(db: Database, upload: UploadRow, now: number): Promise<UploadRow> {
  if (!awaitsPartial(upload)) return upload
  const parts = await awaitedPartial(db, upload)
  if (parts !== null && !areWhole(parts)) return upload
  try {
    if (parts === null) throw partialLost()
    return await joinPartial(db, upload, parts, sizeOfPartial(parts))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // A concurrent request may have claimed them.
    const present = await uploadById(db, upload.id)
    if (present !== undefined && present.state !== 'uploading' && present.state !== 'failed') return present
    await abandonUpload(db, upload, 'UPLOAD_GONE', now)
    throw partialLost()
  }
}

function partialLost(): Refusal {
  return new Refusal('UPLOAD_GONE', 'A part of this upload is gone; start it again')
}

function notWhole(): Refusal {
  return new Refusal(
    'OFFSET_CONFLICT',
    'A part has no length yet, has ended, or belongs to another upload already',
  )
}

export type FinalUpload = UploadRow & { readonly size: number }

export class Concatenation {
  readonly #parts

  constructor(parts: {
    readonly db: Database
    readonly blobs: BlobStore
    readonly hashing: ContentHashing
    readonly clock: Clock
    readonly random: Random
  }) {
    this.#parts = parts
  }

  /** Throws BlobMissing or BlobDamaged when a part has lost bytes. `wrote` gets the bytes stored besides the parts'. */
  async concatenate(
    final: FinalUpload,
    lease: AppendLease,
    wrote: (bytes: number) => void,
  ): Promise<{ key: BlobKey; digest: Digest }> {
    const { blobs, hashing } = this.#parts
    const pieces = await this.#piecesOf(final)
    const key = final.sitting === 0 ? final.key : await this.#freshKey(final, lease)
    const writer = await blobs.create(key, final.size)
    const hash = hashing.start()
    const store = async (bytes: Uint8Array) => {
      await writer.write(bytes)
      wrote(bytes.byteLength)
    }
    const hashingWriter = new HashingWriter({ hashing, hash, store, from: 0 })
    try {
      for (const part of pieces) {
        for await (const chunk of blobBytes(blobs, part.key, part.received)) {
          lease.assertHeld()
          await hashingWriter.write(chunk)
        }
      }
      const digest = await hashingWriter.end()
      assertSize(key, await writer.complete(), final.size)
      return { key, digest }
    } catch (error) {
      await hashingWriter.rest()
      hash.drop()
      await writer.abort()
      throw error
    }
  }

  /** Leaves the bytes as garbage, unless they are a file's by now. */
  async discard(final: FinalUpload, key: BlobKey): Promise<void> {
    const { db, clock } = this.#parts
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      if (!(await blobExists(trx, key))) await discardBlob(trx, key, clock.now() + GARBAGE_GRACE)
    })
  }

  /** A new key: an earlier try may still be writing under the previous one. */
  async #freshKey(final: FinalUpload, lease: AppendLease): Promise<BlobKey> {
    const { db, clock, random } = this.#parts
    const key = makeBlobKey(random)
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      if (!(await changeKey(trx, final.id, lease.number, key))) throw uploadInterrupted()
      await discardBlob(trx, final.key, clock.now() + GARBAGE_GRACE)
    })
    return key
  }

  /** In order. Parts being concatenated cannot end, so all exist. */
  async #piecesOf(final: FinalUpload): Promise<UploadRow[]> {
    const pieces = await partialOf(this.#parts.db, final.id)
    const length = pieces.reduce((sum, piece) => sum + piece.received, 0)
    if (pieces.some(({ ended_at }) => ended_at !== null)) throw uploadInterrupted()
    assertSize(final.key, length, final.size)
    return pieces
  }
}

/** Leaves the bytes as garbage. Does nothing when it has ended, or is a part being concatenated. */
export async function abandonUpload(
  db: Database,
  upload: UploadRow,
  failure: string,
  now: number,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    await abandonIn(trx, upload, failure, now)
  })
}

/** Call under the account's lock. */
export function abandonIn(trx: Trx, upload: UploadRow, failure: string, now: number): Promise<void> {
  return endWithPartial(trx, upload, { ended_at: now, state: 'failed', failure })
}

/** Frees their reservations at once. */
export async function abandonUploadsOfLink(db: Database, link: LinkId, now: number): Promise<void> {
  for (;;) {
    const open = await openUploadsOfLink(db, link, 100)
    if (open.length === 0) return
    for (const id of open) {
      const upload = await uploadById(db, id)
      if (upload !== undefined) await abandonUpload(db, upload, 'LINK_NOT_FOUND', now)
    }
  }
}

/** The file of a completed one stays. Throws Refusal UPLOAD_LOCKED for a part being concatenated. */
export async function endAndDeleteUpload(db: Database, upload: UploadRow, now: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, upload.account_id)
    const end: UploadEnd = { ended_at: now, state: 'failed', failure: 'terminated' }
    const present = await uploadById(trx, upload.id)
    if (present !== undefined && present.joined_into !== null && present.ended_at === null) throw inUse()
    await endWithPartial(trx, upload, end)
    await dropUpload(trx, upload.id)
  })
}

export async function deleteUnjoined(db: Database, final: UploadRow): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, final.account_id)
    const present = await uploadById(trx, final.id)
    if (present?.state === 'uploading') await dropUpload(trx, final.id)
  })
}

async function endWithPartial(trx: Trx, upload: UploadRow, end: UploadEnd): Promise<void> {
  const key = await endUpload(trx, upload, end)
  if (key === null) return
  await discardBlob(trx, key, end.ended_at + GARBAGE_GRACE)
  await endPartial(trx, upload, end)
  if (!awaitsPartial(upload)) return
  for (const part of await partialLeft(trx, upload)) {
    const partKey = await endUpload(trx, part, end)
    if (partKey !== null) await discardBlob(trx, partKey, end.ended_at + GARBAGE_GRACE)
  }
}

export async function endPartial(trx: Trx, final: Pick<UploadRow, 'id'>, end: UploadEnd): Promise<void> {
  for (const part of await partialOf(trx, final.id)) {
    const key = await endUpload(trx, part, end, { final: final.id })
    if (key !== null) await discardBlob(trx, key, end.ended_at + GARBAGE_GRACE)
  }
}

/** Seconds. */
const CONCATENATION_RETRY = 1

function inUse(): Refusal {
  const message = 'This part is being joined and ends with the upload that it became a part of'
  return new Refusal('UPLOAD_LOCKED', message, CONCATENATION_RETRY)
}
