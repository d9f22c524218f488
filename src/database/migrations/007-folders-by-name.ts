/**
 * Index of subfolders by name, ignoring the case of A to Z: both databases' `lower` handle those alone alike.
 * Includes `is_public`, so that counts and late pages are answered from the index alone.
 */
export const foldersByName = {
  sqlite: [
    'create index folders_by_name on folders (parent_id, lower(name), id, is_public) where deleted_at is null',
  ],

  postgres: [
    'create index folders_by_name on folders (parent_id, lower(name), id) include (is_public, name) where deleted_at is null',
  ],
} as const
