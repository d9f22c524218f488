/** Whether somebody waits for an upload: then its bytes are stored so that they can be read while it arrives. */
export const followedUploads = {
  sqlite: ['alter table uploads add column is_followed integer not null default 0'],
  postgres: ['alter table uploads add column is_followed bigint not null default 0'],
}
