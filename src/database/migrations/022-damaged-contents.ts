/**
 * Contents that were found damaged, and when the bytes of each were last read and found sound. A mark names the
 * key that it is about: it does not apply to a copy that has taken that one's place, whoever stored it.
 */
const statements = [
  'alter table blobs add column damaged_key text',
  'alter table blobs add column damage text',
  'alter table blobs add column damaged_at bigint',
  'alter table blobs add column verified_at bigint',
  'create index damaged_blobs on blobs (id) where damaged_key = key',
  // Bytes that nobody has read yet count from when they were stored.
  'create index blobs_by_verification on blobs (coalesce(verified_at, created_at), id)',
]

export const damagedContents = {
  sqlite: statements.map((statement) => statement.replace('bigint', 'integer')),
  postgres: statements,
} as const
