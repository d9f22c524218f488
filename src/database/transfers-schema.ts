/** Version 2: transfers, folders with one link that uploads go into. What the columns mean is said in `schema.ts`. */

const INT = { sqlite: 'integer', postgres: 'bigint' } as const
const FLAG = { sqlite: 'integer', postgres: 'smallint' } as const
const BYTEWISE = { sqlite: 'text', postgres: 'text collate "C"' } as const
const STRICT = { sqlite: 'strict', postgres: '' } as const

export const transfersSchema = { sqlite: statements('sqlite'), postgres: statements('postgres') }

function statements(database: 'sqlite' | 'postgres'): string[] {
  const [int, flag, bytewise, strict] = [INT, FLAG, BYTEWISE, STRICT].map((names) => names[database])
  return [
    `alter table folders add column is_transfer ${flag} not null default 0`,
    `alter table folders add column unique_name ${flag} default 1`,
    'drop index folders_siblings',
    // Nulls differ from each other: guests' transfers lie side by side and may have one name.
    'create unique index folders_siblings on folders (parent_id, name, unique_name) where deleted_at is null',

    `create table transfers (
      folder_id ${int} primary key references folders (id) on delete cascade,
      link_id ${int} not null unique,
      sender text,
      announced_files ${int},
      announced_bytes ${int},
      arrived_files ${int} not null default 0,
      arrived_bytes ${int} not null default 0,
      closed_at ${int},
      opens_again ${flag} not null default 0,
      created_at ${int} not null,
      last_used_at ${int} not null,
      look_at ${int},
      network ${bytewise},
      subnet ${bytewise},
      address ${bytewise}
    ) ${strict}`,
    'create index transfers_to_look_at on transfers (look_at) where look_at is not null',
    `create index transfers_empty on transfers (address) where arrived_files = 0 and address is not null`,

    `alter table uploads add column transfer ${int}`,
    'create index uploads_of_transfer on uploads (transfer) where transfer is not null',
    `alter table reservations add column transfer ${int}`,
    'create index reservations_of_transfer on reservations (transfer) where transfer is not null',
  ]
}
