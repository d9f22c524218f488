import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Since 13 `pg_trgm` is a trusted extension. */
const NEEDED = 13

export class PostgresTooOld extends Error {
  override readonly name = 'PostgresTooOld'

  constructor(found: string) {
    super(
      `PostgreSQL ${found} is too old: Holdfast needs ${NEEDED} or newer. Upgrade that server, or let HOLDFAST_DATABASE_URL name a newer one.`,
    )
  }
}

export async function assertRecentPostgres(db: Database): Promise<void> {
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::integer as version`.execute(db)
  const version = rows[0]?.version ?? 0
  const major = Math.floor(version / 10_000)
  if (major >= NEEDED) return
  // Before 10 the major version had two numbers.
  const minor = major >= 10 ? `${version % 10_000}` : `${Math.floor(version / 100) % 100}.${version % 100}`
  throw new PostgresTooOld(`${major}.${minor}`)
}
