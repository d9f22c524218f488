/**
 * What orders an account's files also holds their names and folders: a search that reads names in that order, and a
 * list that leaves folders out, look at no rows. Frozen: what is wrong here is mended by a later migration.
 */
export const namesInIndexes = {
  sqlite: [
    'drop index files_by_age',
    'drop index files_by_name',
    'drop index files_by_size',
    'drop index files_by_downloads',
    'create index files_by_age on files (account_id, created_at, id, folder_id, name_folded) where removed_at is null',
    'create index files_by_name on files (account_id, name_folded, id, folder_id) where removed_at is null',
    'create index files_by_size on files (account_id, size, id, folder_id, name_folded) where removed_at is null',
    'create index files_by_downloads on files (account_id, downloads, id, folder_id, name_folded) where removed_at is null',
  ],

  postgres: [
    'drop index files_by_age',
    'drop index files_by_name',
    'drop index files_by_size',
    'drop index files_by_downloads',
    'create index files_by_age on files (account_id, created_at, id) include (folder_id, name_folded) where removed_at is null',
    'create index files_by_name on files (account_id, name_folded, id) include (folder_id) where removed_at is null',
    'create index files_by_size on files (account_id, size, id) include (folder_id, name_folded) where removed_at is null',
    'create index files_by_downloads on files (account_id, downloads, id) include (folder_id, name_folded) where removed_at is null',
    // An index is enough only where the table is known to hold no dead rows, and vacuum is what tells.
    'alter table files set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02)',
  ],
} as const
