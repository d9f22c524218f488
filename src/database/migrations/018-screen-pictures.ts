/**
 * Pictures as large as a screen, beside their thumbnails. Those of contents that have thumbnails already are not made.
 * Frozen once released: what is wrong here is mended by a later migration.
 */
export const screenPictures = {
  sqlite: ['alter table thumbnails add column screen integer not null default 0'],
  postgres: ['alter table thumbnails add column screen bigint not null default 0'],
} as const
