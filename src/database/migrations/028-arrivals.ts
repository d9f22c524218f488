/** Owners are told by mail of what came by their upload links: not of what came before this. */
const told = (type: string) => [
  `alter table contributions add column told ${type} not null default 0`,
  'update contributions set told = 1',
  'create index contributions_untold on contributions (created_at) where told = 0',
  `alter table mail_addresses add column arrivals_told_at ${type}`,
]

export const arrivals = { sqlite: told('integer'), postgres: told('bigint') }
