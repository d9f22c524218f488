/** Places of limited links that a form takes ahead of the first byte, and what was sent of downloads that gave theirs back. */
const tables = (type: string) => [
  `alter table link_claims add column reserved_until ${type}`,
  `alter table link_claims add column used_at ${type} not null default 0`,
  `alter table links add column given_back ${type} not null default 0`,
  `alter table links add column given_back_bytes ${type} not null default 0`,
]

export const limitedLinks = { sqlite: tables('integer'), postgres: tables('bigint') }
