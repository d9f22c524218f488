/**
 * What an API key is good for. Keys that are there already keep everything. The folder is kept by its identifier, which
 * is never given twice, and points to no row: when the folder is gone the key must not become one for the whole account.
 * When a key was last used is a column of the first version. Not released yet.
 */
export const keyScopes = {
  sqlite: [
    "alter table api_keys add column scopes text not null default 'read upload manage'",
    'alter table api_keys add column folder text',
    'alter table api_keys add column expires_at integer',
  ],

  postgres: [
    `alter table api_keys add column scopes text collate "C" not null default 'read upload manage'`,
    'alter table api_keys add column folder text collate "C"',
    'alter table api_keys add column expires_at bigint',
  ],
} as const
