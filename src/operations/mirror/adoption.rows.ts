import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { BlobKey } from '../../domain/ids.ts'
import type { Copied } from './mirror.rows.ts'

type WithListed = { listed_blobs: { key: BlobKey } }

export async function dropListed(listed: Database, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length === 0) return
  await listed.withTables<WithListed>().deleteFrom('listed_blobs').where('key', 'in', keys).execute()
}

export async function restOfListed(listed: Database, limit: number): Promise<BlobKey[]> {
  const rows = await listed
    .withTables<WithListed>()
    .selectFrom('listed_blobs')
    .select('key')
    .limit(limit)
    .execute()
  return rows.map(({ key }) => key)
}

/** Keeps copies recorded meanwhile. */
export async function dropCopies(db: Database, copies: readonly Copied[]): Promise<void> {
  if (copies.length === 0) return
  const [ids, keys] = [copies.map(({ id }) => id), copies.map(({ key }) => key)]
  await sql`update blobs set mirrored_key = null
    where id in (${sql.join(ids)}) and mirrored_key in (${sql.join(keys)})`.execute(db)
}
