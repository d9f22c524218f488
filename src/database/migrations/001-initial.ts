/** The first schema. Frozen: mistakes are corrected by a later migration. */
export const initial: readonly string[] = [
  `create table accounts (
    id integer primary key autoincrement,
    username text not null unique,
    created_at integer not null,
    disabled_at integer,
    storage_used integer not null default 0 check (storage_used >= 0),
    storage_reserved integer not null default 0 check (storage_reserved >= 0),
    files_count integer not null default 0 check (files_count >= 0),
    folders_count integer not null default 0 check (folders_count >= 0)
  ) strict`,

  `create table api_keys (
    id integer primary key autoincrement,
    account_id integer not null references accounts (id),
    name text not null,
    prefix text not null,
    hash text not null unique,
    created_at integer not null,
    last_used_at integer,
    revoked_at integer
  ) strict`,
  'create index api_keys_of_account on api_keys (account_id, id)',

  `create table folders (
    id integer primary key autoincrement,
    identifier text not null unique,
    account_id integer not null references accounts (id),
    parent_id integer references folders (id),
    name text not null,
    is_public integer not null,
    password_hash text,
    file_count integer not null default 0 check (file_count >= 0),
    created_at integer not null,
    deleted_at integer
  ) strict`,
  'create unique index folders_top on folders (account_id) where parent_id is null',
  'create unique index folders_siblings on folders (parent_id, name) where deleted_at is null',
  'create index folders_of_account on folders (account_id, id) where deleted_at is null',
  'create index folders_children on folders (parent_id)',
  'create index folders_deleted on folders (id) where deleted_at is not null',

  `create table blobs (
    id integer primary key autoincrement,
    key text not null unique,
    sha256 text not null,
    crc32 integer not null,
    size integer not null,
    refs integer not null check (refs >= 0),
    created_at integer not null,
    unique (sha256, size)
  ) strict`,
  'create table blob_garbage (key text primary key, due_at integer not null) strict, without rowid',
  'create index blob_garbage_due on blob_garbage (due_at)',

  `create table files (
    id integer primary key autoincrement,
    uuid text not null unique,
    slug text not null unique,
    account_id integer not null references accounts (id),
    folder_id integer not null references folders (id),
    blob_id integer not null references blobs (id),
    name text not null,
    name_folded text not null,
    size integer not null,
    type text not null,
    created_at integer not null,
    last_used_at integer not null,
    views integer not null default 0,
    downloads integer not null default 0,
    removed_at integer,
    removal text check ((removed_at is null) = (removal is null))
  ) strict`,
  'create index files_by_age on files (account_id, created_at, id) where removed_at is null',
  'create index files_by_name on files (account_id, name_folded, id) where removed_at is null',
  'create index files_by_size on files (account_id, size, id) where removed_at is null',
  'create index files_by_downloads on files (account_id, downloads, id) where removed_at is null',
  'create index folder_files_by_age on files (folder_id, created_at, id) where removed_at is null',
  'create index folder_files_by_name on files (folder_id, name_folded, id) where removed_at is null',
  'create index folder_files_by_size on files (folder_id, size, id) where removed_at is null',
  'create index folder_files_by_downloads on files (folder_id, downloads, id) where removed_at is null',
  'create index folder_files on files (folder_id)',
  'create index files_unused on files (last_used_at) where removed_at is null',
  'create index files_removed on files (removal, last_used_at, id) where removed_at is not null',
  'create index files_of_blob on files (blob_id)',

  `create virtual table file_names using fts5 (
    name_folded, content = 'files', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
  )`,
  `create trigger file_names_insert after insert on files begin
    insert into file_names (rowid, name_folded) values (new.id, new.name_folded);
  end`,
  `create trigger file_names_delete after delete on files begin
    insert into file_names (file_names, rowid, name_folded) values ('delete', old.id, old.name_folded);
  end`,
  `create trigger file_names_update after update of name_folded on files begin
    insert into file_names (file_names, rowid, name_folded) values ('delete', old.id, old.name_folded);
    insert into file_names (rowid, name_folded) values (new.id, new.name_folded);
  end`,

  `create table reservations (
    key text primary key,
    account_id integer not null references accounts (id),
    bytes integer not null,
    created_at integer not null
  ) strict, without rowid`,

  `create table rate_windows (
    subject text primary key, opened_at integer not null, ends_at integer not null, used integer not null
  ) strict, without rowid`,

  `create table request_days (
    account_id integer not null references accounts (id),
    day text not null,
    requests integer not null,
    primary key (account_id, day)
  ) strict, without rowid`,
]
