/** Parts of a final upload created before their bytes (`concatenation-unfinished`). Own limits until claimed. */
import { hashToken } from '../../core/hmac.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { MINUTE } from '../../domain/clock.ts'
import { type UploadRow, uploadsByToken } from '../uploads.rows.ts'
import { parseConcat } from './tus-headers.ts'
import { noteUse } from './upload-ends.rows.ts'
import { finalBefore } from './upload-parts.rows.ts'

/** A final upload without a recorded size was about to claim its parts when its node died. */
export function awaitsParts({ kind, state, size }: Pick<UploadRow, 'kind' | 'state' | 'size'>): boolean {
  return kind === 'final' && state === 'uploading' && size !== null
}

/** In order; null when one is gone, failed, or claimed by another upload. */
export async function awaitedParts(db: Queryable, final: UploadRow): Promise<UploadRow[] | null> {
  const { named, rows } = await namedParts(db, final)
  const parts = named.flatMap((hash) => rows.get(hash) ?? [])
  const isOpen = ({ ended_at, joined_into }: UploadRow) => ended_at === null && joined_into === null
  return parts.length === named.length && parts.every(isOpen) ? parts : null
}

export async function finalOf(db: Queryable, part: UploadRow): Promise<UploadRow | null> {
  if (part.part === null) return null
  const final = await finalBefore(db, part)
  if (final === undefined) return null
  const parts = await partsLeft(db, final)
  return parts.some(({ id }) => id === part.id) ? final : null
}

export async function partsLeft(db: Queryable, final: UploadRow): Promise<UploadRow[]> {
  return [...(await namedParts(db, final)).rows.values()]
}

/** Adds the bytes of awaited parts, and the time of the last. */
export async function withPartsReceived(db: Queryable, upload: UploadRow): Promise<UploadRow> {
  if (!awaitsParts(upload)) return upload
  const parts = await partsLeft(db, upload)
  return {
    ...upload,
    received: parts.reduce((sum, { received }) => sum + received, 0),
    used_at: parts.reduce((latest, { used_at }) => Math.max(latest, used_at), upload.used_at),
  }
}

/** Far less than the shortest expiry of an upload. */
const NOTED_EVERY = 10 * MINUTE

/** A byte to one part keeps all from expiring: on a slow line the last may wait for days. Returns the parts. */
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
