import type { Queryable, Trx } from '../database/database.ts'
import type { BlobKey } from '../domain/ids.ts'
import { metaOf, setMeta } from './meta.rows.ts'

const META = 'drawn_keys'

/** Keys under which the one process of this database may be writing small blobs, or was when it ended. */
export async function pooledKeys(db: Queryable): Promise<BlobKey[]> {
  return JSON.parse((await metaOf(db, META)) ?? '[]')
}

/** Records them in place of those before. */
export function recordPooledKeys(trx: Trx, keys: readonly BlobKey[]): Promise<void> {
  return setMeta(trx, META, JSON.stringify(keys))
}
