import type { Queryable } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import type { Sha256 } from '../domain/ids.ts'
import { formatSize } from '../domain/sizes.ts'
import { isRefused } from '../files/refused-contents.rows.ts'

/** Throws Refusal FILE_TOO_LARGE. */
export function assertFileSize(bytes: number, most: number): void {
  if (bytes > most) throw fileTooLarge(most)
}

export function fileTooLarge(most: number): Refusal {
  return new Refusal('FILE_TOO_LARGE', `A file may have ${formatSize(most)} at most`)
}

/** Seconds. */
const INTERRUPTED_RETRY = 5

/** Other nodes took this one for dead and ended its uploads. */
export function uploadInterrupted(): Refusal {
  return new Refusal(
    'STORAGE_UNAVAILABLE',
    'The server was interrupted and cannot finish this upload; send it again',
    INTERRUPTED_RETRY,
    { reason: 'away' },
  )
}

/** Throws Refusal CONTENT_REFUSED. The caller's transaction has locked the contents. */
export async function assertNotRefused(db: Queryable, ...contents: readonly Sha256[]): Promise<void> {
  if (await isRefused(db, ...contents)) throw contentRefused()
}

function contentRefused(): Refusal {
  return new Refusal(
    'CONTENT_REFUSED',
    'The administrators of this server have taken this content down; it cannot be uploaded again',
  )
}
