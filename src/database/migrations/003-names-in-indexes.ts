/**
 * Adds names and folders to the indexes that order an account's files: a search in that order, and a list
 * that excludes folders, are answered from the index alone. Frozen: mistakes are corrected by a later
 * migration.
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
    // Index-only scans need a current visibility map, which vacuum maintains.
    'alter table files set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02)',
  ],
} as const
