/**
 * Tells what became of a transaction whose answer was lost: a row that only it wrote is there or not. SQLite has nobody
 * between itself and the program, and needs none.
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
