/**
 * Makes the index of an account's unused files partial, with a condition that always holds. This keeps
 * SQLite from using this index for queries that read names, which it does not contain.
 */
export const addUnusedFiles = {
  sqlite: [
    'drop index files_unused_of_account',
    `create index files_unused_of_account on files (account_id, last_used_at)
      where removed_at is null and last_used_at is not null`,
  ],
  postgres: [],
} as const
