/**
 * Parts of a final upload that was created before all their bytes have come (`concatenation-unfinished`). Until it claims
 * them they are uploads of their own, with reservations and limits of their own; what it was created of names them.
 */
import { hashToken } from '../../core/token-hash.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { MINUTE } from '../../domain/clock.ts'
import { type UploadRow, uploadsByToken } from '../uploads.rows.ts'
import { parseConcat } from './tus-headers.ts'
import { noteUse } from './upload-ends.rows.ts'
import { finalBefore } from './upload-parts.rows.ts'

/** A final upload that waits for its parts. One whose size is not recorded was about to claim them when a node died. */
export function awaitsParts({ kind, state, size }: Pick<UploadRow, 'kind' | 'state' | 'size'>): boolean {
  return kind === 'final' && state === 'uploading' && size !== null
}

/** The parts in their order; null when one of them is gone, failed, or another upload's by now. */
export async function awaitedParts(db: Queryable, final: UploadRow): Promise<UploadRow[] | null> {
  const { named, rows } = await namedParts(db, final)
  const parts = named.flatMap((hash) => rows.get(hash) ?? [])
  const isOpen = ({ ended_at, joined_into }: UploadRow) => ended_at === null && joined_into === null
  return parts.length === named.length && parts.every(isOpen) ? parts : null
}

/** The upload that the part was created with, if it waits for its parts; null where it was created by itself. */
export async function finalOf(db: Queryable, part: UploadRow): Promise<UploadRow | null> {
  if (part.part === null) return null
  const final = await finalBefore(db, part)
  if (final === undefined) return null
  const parts = await partsLeft(db, final)
  return parts.some(({ id }) => id === part.id) ? final : null
}

/** Those of the parts that are left, in any order. */
export async function partsLeft(db: Queryable, final: UploadRow): Promise<UploadRow[]> {
  return [...(await namedParts(db, final)).rows.values()]
}

/** The upload with what its parts have received while it waits for them, and when the last of it came. */
export async function withPartsReceived(db: Queryable, upload: UploadRow): Promise<UploadRow> {
  if (!awaitsParts(upload)) return upload
  const parts = await partsLeft(db, upload)
  return {
    ...upload,
    received: parts.reduce((sum, { received }) => sum + received, 0),
    used_at: parts.reduce((latest, { used_at }) => Math.max(latest, used_at), upload.used_at),
  }
}

/** Far less than the shortest time in which an upload expires. */
const NOTED_EVERY = 10 * MINUTE

/** Lets no part of the upload expire as long as bytes come to another: on a slow line the last may wait for days. Returns the parts. */
export async function keepPartsInUse(db: Database, final: UploadRow): Promise<UploadRow[]> {
  const parts = await partsLeft(db, final)
  const latest = Math.max(...parts.map(({ used_at }) => used_at))
  const behind = parts.filter(({ used_at }) => used_at < latest - NOTED_EVERY)
  await noteUse(
    db,
    behind.map(({ id }) => id),
    latest,
  )
  return parts
}

async function namedParts(db: Queryable, { concat }: UploadRow) {
  const parsed = parseConcat(concat)
  const named = parsed?.kind === 'final' ? parsed.parts.map(hashToken) : []
  const rows = await uploadsByToken(db, named)
  return { named, rows: new Map(rows.map((row) => [row.token_hash, row])) }
}
