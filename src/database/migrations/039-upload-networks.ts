/** The networks around the address of a guest's upload, by which uploads without a byte are shared. */
const index = `create index uploads_empty_of_address on uploads (address)
  where ended_at is null and joined_into is null and received = 0`

export const uploadNetworks = {
  sqlite: [
    'alter table uploads add column network text',
    'alter table uploads add column subnet text',
    index,
  ],
  postgres: [
    'alter table uploads add column network text collate "C"',
    'alter table uploads add column subnet text collate "C"',
    index,
  ],
} as const
