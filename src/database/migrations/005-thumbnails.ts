/**
 * Thumbnails of contents. An existing content has no row until its thumbnail is requested. Frozen once
 * released: mistakes are corrected by a later migration.
 */
export const thumbnails = {
  sqlite: [
    `create table thumbnails (
      blob_id integer primary key references blobs (id) on delete cascade,
      state text not null,
      key text,
      small integer not null default 0,
      large integer not null default 0,
      node text,
      tries integer not null default 0,
      due_at integer not null
    ) strict`,
    "create index thumbnails_wanted on thumbnails (due_at, blob_id) where state = 'wanted'",
  ],

  postgres: [
    `create table thumbnails (
      blob_id bigint primary key references blobs (id) on delete cascade,
      state text collate "C" not null,
      key text collate "C",
      small bigint not null default 0,
      large bigint not null default 0,
      node text collate "C",
      tries bigint not null default 0,
      due_at bigint not null
    )`,
    "create index thumbnails_wanted on thumbnails (due_at, blob_id) where state = 'wanted'",
  ],
} as const
