/** Databases of today with as many files as wanted, which a later version brings to its own. */
import { sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'

/** The version of 0.1.0. */
export const OLDEST = 1
/** What the rows make of themselves: accounts, their top folders, and ten folders in each of these. */
const [ACCOUNTS, FOLDERS, PER_CONTENT, SIZE] = [10, 10, 10, 7]

/** Migrates the empty database to `OLDEST`. Each folder gets the same number of files; the counts are right. */
export async function makeOldDatabase(db: Database, files: number): Promise<void> {
  const perFolder = Math.ceil(files / ACCOUNTS / FOLDERS)
  const all = perFolder * ACCOUNTS * FOLDERS
  await migrate(db, OLDEST)
  const inFolder = sql`${sql.lit(perFolder)}`
  const ofAccount = sql`${sql.lit(perFolder * FOLDERS)}`
  const numbers = (most: number) =>
    sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(most)})`
  const size = sql.lit(SIZE)
  const rows = [
    sql`insert into accounts (id, username, name_sort, created_at, storage_used, files_count, folders_count)
      ${numbers(ACCOUNTS)} select i, 'user' || i, 'user' || i, 0, ${ofAccount} * ${size}, ${ofAccount}, ${sql.lit(FOLDERS)} from n`,
    sql`insert into folders (id, identifier, account_id, parent_id, name, name_sort, is_public, created_at,
        file_count, tree_files, tree_bytes, tree_folders, tree_height)
      ${numbers(ACCOUNTS)} select i, 'top' || i, i, null, '', '', 1, 0, 0, ${ofAccount}, ${ofAccount} * ${size},
        ${sql.lit(FOLDERS)}, 1 from n`,
    sql`insert into folders (id, identifier, account_id, parent_id, name, name_sort, is_public, created_at,
        file_count, tree_files, tree_bytes)
      ${numbers(ACCOUNTS * FOLDERS)} select ${sql.lit(ACCOUNTS)} + i, 'folder' || i, 1 + i % ${sql.lit(ACCOUNTS)},
        1 + i % ${sql.lit(ACCOUNTS)}, 'folder ' || i, 'folder ' || i, i % 2, 0, ${inFolder}, ${inFolder}, ${inFolder} * ${size} from n`,
    sql`insert into blobs (id, key, sha256, crc32, size, refs, created_at)
      ${numbers(Math.ceil(all / PER_CONTENT))} select i, 'key' || i, 'hash' || i, 0, ${size}, ${sql.lit(PER_CONTENT)}, 0 from n`,
    sql`insert into files (id, uuid, slug, account_id, folder_id, blob_id, name, name_folded, name_sort, size, type,
        created_at, last_used_at)
      ${numbers(all)} select i, 'uuid' || i, 'slug' || i, 1 + i % ${sql.lit(ACCOUNTS)},
        ${sql.lit(ACCOUNTS + 1)} + (i - 1) % ${sql.lit(ACCOUNTS * FOLDERS)},
        1 + (i - 1) / ${sql.lit(PER_CONTENT)}, 'Datei ' || i || ' ä.txt', 'datei ' || i || ' ä.txt', 'datei ' || i || ' a.txt', ${size}, 'text/plain',
        i, i from n`,
  ]
  for (const row of rows) await row.execute(db)
}
