/**
 * Copies of contents in a second store, the mirror. A row keeps its copy's key when the bytes in the first store are
 * replaced, since the content is the same. What a deleted row had there is queued by a trigger, also when a node of an
 * older version deletes the row.
 */
const statements = [
  'alter table blobs add column mirrored_key text',
  // `due_at` is 0 until a time is set for the removal.
  'create table mirror_garbage (key text primary key, due_at bigint not null)',
  'create index mirror_garbage_by_time on mirror_garbage (due_at)',
]

const outlivesRow = `after delete on blobs for each row when (old.mirrored_key is not null)`

export const mirror = {
  sqlite: [
    ...statements.map((statement) => statement.replace('bigint', 'integer')),
    // SQLite takes no index for the order of ids alone, and each entry of this one ends with the id.
    'create index blobs_not_mirrored on blobs (mirrored_key) where mirrored_key is null',
    `create trigger blobs_leave_mirror ${outlivesRow} begin
       insert or ignore into mirror_garbage (key, due_at) values (old.mirrored_key, 0);
     end`,
  ],

  postgres: [
    ...statements,
    'create index blobs_not_mirrored on blobs (id) where mirrored_key is null',
    `create function leave_mirror() returns trigger language plpgsql as
     $$ begin
       insert into mirror_garbage (key, due_at) values (old.mirrored_key, 0) on conflict do nothing;
       return null;
     end $$`,
    `create trigger blobs_leave_mirror ${outlivesRow} execute function leave_mirror()`,
  ],
} as const
