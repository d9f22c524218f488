/**
 * Whose turn a wanted thumbnail waits for (see `turnOf` in core/thumbnails.rows.ts), and the order of turns. Frozen: a
 * change needs a new migration.
 */
const index = "create index thumbnails_turns on thumbnails (turn, due_at, blob_id) where state = 'wanted'"

export const thumbnailTurns = {
  sqlite: [
    'alter table thumbnails add column turn integer not null default 0',
    'drop index thumbnails_wanted',
    index,
  ],
  postgres: [
    'alter table thumbnails add column turn bigint not null default 0',
    'drop index thumbnails_wanted',
    index,
  ],
}
