import type { Queryable, Trx } from '../database/database.ts'
import type { BlobKey } from '../domain/ids.ts'
import { metaOf, setMeta } from './meta.rows.ts'

const META = 'drawn_keys'

/** Keys of small blobs that the sole process of this database may be writing, or was at its end. */
export async function pooledKeys(db: Queryable): Promise<BlobKey[]> {
  return JSON.parse((await metaOf(db, META)) ?? '[]')
}

export function recordPooledKeys(trx: Trx, keys: readonly BlobKey[]): Promise<void> {
  return setMeta(trx, META, JSON.stringify(keys))
}
