/** Uploads without a byte so far, counted by account and by the address of a guest. */
const index = `create index uploads_empty on uploads (account_id, address)
  where ended_at is null and joined_into is null and received = 0`

export const emptyUploads = {
  sqlite: ['alter table uploads add column address text', index],
  postgres: ['alter table uploads add column address text collate "C"', index],
} as const
