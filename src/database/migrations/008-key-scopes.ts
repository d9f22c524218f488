/**
 * Scopes, folder and expiry of API keys. Existing keys keep every scope. The folder is stored by its
 * identifier, which is never reused, without a foreign key: deleting the folder must not turn the key into
 * one for the whole account. `last_used_at` exists since the first version.
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
