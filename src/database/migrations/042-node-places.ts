/** Where each node runs, and which program. Null for nodes of an earlier version. Frozen once released. */
export const nodePlaces = {
  sqlite: [
    'alter table nodes add column host text',
    'alter table nodes add column address text',
    'alter table nodes add column version text',
  ],
  postgres: [
    'alter table nodes add column host text',
    'alter table nodes add column address text',
    'alter table nodes add column version text',
  ],
} as const
