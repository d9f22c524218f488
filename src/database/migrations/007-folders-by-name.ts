/**
 * The folders in a folder by their names, without regard to the case of A to Z: that is what both databases' `lower`
 * knows. Whether they are private is in the index too, so that counting and late pages look at no rows. Not released yet.
 */
export const foldersByName = {
  sqlite: [
    'create index folders_by_name on folders (parent_id, lower(name), id, is_public) where deleted_at is null',
  ],

  postgres: [
    'create index folders_by_name on folders (parent_id, lower(name), id) include (is_public, name) where deleted_at is null',
  ],
} as const
