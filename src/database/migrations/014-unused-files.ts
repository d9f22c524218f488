/**
 * Gives the index of the unused files of an account a condition that always holds. It keeps SQLite from reading names by
 * way of an index that has none.
 */
export const unusedFiles = {
  sqlite: [
    'drop index files_unused_of_account',
    `create index files_unused_of_account on files (account_id, last_used_at)
      where removed_at is null and last_used_at is not null`,
  ],
  postgres: [],
} as const
