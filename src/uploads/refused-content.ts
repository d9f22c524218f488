import type { Queryable } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import type { Sha256 } from '../domain/ids.ts'
import { isRefused } from '../files/refused-contents.rows.ts'

/** Throws Refusal CONTENT_REFUSED. The caller's transaction has locked the content. */
export async function assertNotRefused(db: Queryable, sha256: Sha256): Promise<void> {
  if (await isRefused(db, sha256)) throw contentRefused()
}

export function contentRefused(): Refusal {
  return new Refusal(
    'CONTENT_REFUSED',
    'The administrators of this server have taken this content down; it cannot be uploaded again',
  )
}
