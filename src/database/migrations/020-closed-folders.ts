/**
 * Closing numbers: making a folder private or setting a password increments the account's counter, so that
 * addresses signed before a closing can be told from later ones.
 */
const statements = [
  'alter table accounts add column closings bigint not null default 0',
  'alter table folders add column closing bigint not null default 0',
]

export const closedFolders = {
  sqlite: statements.map((statement) => statement.replace('bigint', 'integer')),
  postgres: statements,
} as const
