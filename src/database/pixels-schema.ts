/** Version 4: how large the pictures of a content are, so that pages leave room for them. */

const INT = { sqlite: 'integer', postgres: 'bigint' } as const

export const pixelsSchema = { sqlite: statements('sqlite'), postgres: statements('postgres') }

function statements(database: 'sqlite' | 'postgres'): string[] {
  return ['width', 'height'].map((side) => `alter table thumbnails add column ${side} ${INT[database]}`)
}
