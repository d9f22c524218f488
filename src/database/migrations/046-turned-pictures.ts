/** Whether browsers show a content otherwise than its thumbnails. Frozen: a change needs a new migration. */
export const turnedPictures = {
  sqlite: ['alter table thumbnails add column turned integer not null default 0'],
  postgres: ['alter table thumbnails add column turned integer not null default 0'],
}
