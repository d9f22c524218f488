import type { Queryable, Trx } from '../database/database.ts'
import { lockContent } from '../database/differences.ts'
import { Refusal } from '../domain/errors.ts'
import type { Sha256 } from '../domain/ids.ts'
import { isRefused } from '../files/refused-contents.rows.ts'

/**
 * Throws Refusal CONTENT_REFUSED for a content that was taken down. In the transaction that brings its file in, so that
 * it cannot be refused meanwhile.
 */
export async function assertTaken(trx: Trx, sha256: Sha256): Promise<void> {
  await lockContent(trx, sha256, 'together')
  await assertNotRefused(trx, sha256)
}

/** The same for a file that was taken in long ago. */
export async function assertNotRefused(db: Queryable, sha256: Sha256): Promise<void> {
  if (!(await isRefused(db, sha256))) return
  throw new Refusal(
    'CONTENT_REFUSED',
    'The administrators of this server have taken this content down; it cannot be uploaded again',
  )
}
