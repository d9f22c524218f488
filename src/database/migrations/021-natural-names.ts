/**
 * Sort keys of names. Existing rows have none: they sort first, in the previous order of names, until a job
 * fills the keys in. Frozen once released: mistakes are corrected by a later migration.
 */
const withoutKeys = [
  "create index files_without_key on files (account_id, name_folded, id) where name_sort = ''",
  // An account's root folder has no name.
  "create index folders_without_key on folders (parent_id, name, id) where name_sort = '' and parent_id is not null",
]

const replaced = ['drop index files_by_name', 'drop index folder_files_by_name', 'drop index folders_by_name']

const alike = [
  'create index folder_files_by_name on files (folder_id, name_sort, name_folded, id) where removed_at is null',
  'create index accounts_by_name on accounts (name_sort, username, id)',
]

const tables = ['files', 'folders', 'accounts']

/** Clears the key when a node of an older version renames a row, so that the job fills it in again. */
const forgotten = (table: string, name: string) =>
  `create trigger ${table}_renamed before update of ${name} on ${table}
   for each row execute function forget_name_sort()`

export const naturalNames = {
  sqlite: [
    ...tables.map((table) => `alter table ${table} add column name_sort text not null default ''`),
    ...replaced,
    'create index files_by_name on files (account_id, name_sort, name_folded, id, folder_id) where removed_at is null',
    'create index folders_by_name on folders (parent_id, name_sort, name, id, is_public) where deleted_at is null',
    ...alike,
    ...withoutKeys,
  ],

  postgres: [
    ...tables.map(
      (table) => `alter table ${table} add column name_sort text collate "C" not null default ''`,
    ),
    ...replaced,
    'create index files_by_name on files (account_id, name_sort, name_folded, id) include (folder_id) where removed_at is null',
    'create index folders_by_name on folders (parent_id, name_sort, name, id) include (is_public) where deleted_at is null',
    ...alike,
    ...withoutKeys,
    `create function forget_name_sort() returns trigger language plpgsql as
     $$ begin new.name_sort := ''; return new; end $$`,
    forgotten('files', 'name_folded'),
    forgotten('folders', 'name'),
    forgotten('accounts', 'username'),
  ],
} as const
