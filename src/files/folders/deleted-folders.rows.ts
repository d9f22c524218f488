import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

/** At most `limit` unreferenced rows; returns how many. Leaves go first, so a tree takes as many calls as levels. */
export async function dropDeletedFolders(db: Database, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from folders where id in (${DELETED} limit ${limit})`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}

export async function isAnyFolderDeleted(db: Database): Promise<boolean> {
  return (await sql`${DELETED} limit 1`.execute(db)).rows.length > 0
}

const DELETED = sql`
  select id from folders as gone
  where gone.deleted_at is not null and gone.cleared_at is not null
    and gone.bin_id is null
    and not exists (select 1 from folders as child where child.parent_id = gone.id)
    and not exists (select 1 from files where files.folder_id = gone.id)
    and not exists (select 1 from uploads where uploads.folder_id = gone.id)`
