/**
 * Screen-sized pictures beside thumbnails. None are made for contents that have thumbnails already. Frozen
 * once released: mistakes are corrected by a later migration.
 */
export const screenPictures = {
  sqlite: ['alter table thumbnails add column screen integer not null default 0'],
  postgres: ['alter table thumbnails add column screen bigint not null default 0'],
} as const
