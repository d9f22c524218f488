/**
 * Outcomes of transactions whose answer was lost: a row that only that transaction writes exists or not.
 * SQLite runs in this process and needs none.
 */
export const transactionOutcomes = {
  sqlite: [],
  postgres: [
    `create table transaction_outcomes (
      id uuid primary key,
      committed boolean not null,
      written_at timestamptz not null default now()
    )`,
  ],
} as const
