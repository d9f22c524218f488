/**
 * Days that an administrator gives the files of one account, and for each account how far the search for unused files has
 * come, so that it passes over no file twice. The files that have expired are indexed by their account for the same reason.
 * The index of all files by their last use goes: PostgreSQL would take it for the files of an account and read all others.
 */
export const inactiveDays = {
  sqlite: sql('integer'),
  postgres: sql('bigint'),
}

function sql(time: string): string[] {
  return [
    'alter table accounts add column inactive_days integer',
    `alter table accounts add column unused_since ${time} not null default 0`,
    'drop index files_unused',
    'create index accounts_unused on accounts (inactive_days, unused_since)',
    `create index files_expired_of_account on files (account_id, last_used_at)
      where removal = 'expired' and removed_at is not null`,
  ]
}
